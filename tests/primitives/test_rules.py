"""Every entry of the table of primitives, tested by existing: its value, its derivatives and its second derivatives.

Values are compared with the entry's oracle, derivatives with differences of the interpreter's values in float64, and of
a kernel's where each of these values is a search.
"""

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import pytest
from remembering import as_written, remembering

from vecdist import LazyArray, lazy
from vecdist.graph.node import Node, cast, topological, where
from vecdist.passes.differentiate import partials, pushforward
from vecdist.primitives import PRIMITIVES, Primitive
from vecdist.primitives.arithmetic import bit_xor, bits, from_bits
from vecdist.runtime.interpreter import _expanded, interpret

COUNT = 100
DTYPES = [np.float64, np.float32]
# Each step of these searches is a sum or an integral: ten times what it takes to compile them, in Python.
SEARCHED = {
    "beta_negative_binomial_quantile", "noncentral_beta_quantile", "noncentral_t_quantile", "passage_quantile",
}
WITH_DOMAIN = [pytest.param(p, id=p.name) for p in PRIMITIVES.values() if p.domain]
# Entries without a domain: those on bits have tests below, random numbers have theirs in test_philox and test_sampling,
# and those whose arguments belong together are tested with the families that they are of.  Values that a rule derives
# have theirs in functions/, and what is held in test_accumulating.
ON_BITS = {"and", "or", "xor", "not", "shl", "shr", "where", "cast", "bits", "from_bits"}
TOGETHER = {"with_slopes_of", "from_end", "tail_at_end", "log_tail_at_end", "begun_below", "begun_beyond"} | {
    "falling_power", "falling_rest", "cdf_of_shares", "sf_of_shares", "log_cdf_of_shares", "log_sf_of_shares",
    "log1p_square", "polya_gamma_saddle", "skew_normal_log_tilt", "student_decay", "ruled", "held",
}
RANDOM = {"philox_first", "philox_last"} | {name for name in PRIMITIVES if name.endswith("_draw")}
ROUND = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
# What jumps at round numbers, one argument says which function it is, or in the slopes of quantiles is the value at the
# others: by either tail, alike for that value alone.
UNLIKE = {
    "beta_odds_below_dp", "beta_odds_beyond_dq", "ceil", "floor", "gamma_log_below_dp", "gamma_log_beyond_dq",
    "gamma_log_root", "gamma_log_root_dq", "gammainccinv_dq", "trunc",
}
# Central differences: f'(x) = sum of weight * (f(x + n h) - f(x - n h)) / h (Fornberg 1988, table 1), of order four and
# of order six, at the same points.
WEIGHTS = ((2 / 3, -1 / 12, 0), (3 / 4, -3 / 20, 1 / 60))
SHIFTS = (0.5, 1.0, 1.5)  # in steps


def slots(count: int, dtype: type) -> list[Node]:
    return [Node("slot", (), (i,), ("n0",), np.dtype(dtype)) for i in range(count)]


def arguments_and_sizes(entry: Primitive) -> tuple[list[Node], list[Node]]:
    """A slot for each argument, and one for each step."""
    both = slots(2 * entry.arity, np.float64)
    return both[: entry.arity], both[entry.arity :]


def refuses(node: Node) -> bool:
    """Whether a node is the last of its family, which has no derivative."""
    try:
        partials(node, node.args)
    except NotImplementedError:
        return True
    return False


LAST = {p.name for p in PRIMITIVES.values() if p.domain and refuses(p(*slots(p.arity, np.float64)))}


def value(node: Node, arrays: list[np.ndarray]) -> np.ndarray:
    (result,) = interpret([node], arrays, {"n0": len(arrays[0])})
    return result


def draw(entry: Primitive) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Arguments spread evenly over the domain, and a step for each: relative where the domain is positive.

    One in four of them is a round number, as its neighbours often are: equal arguments, and the edges of cases.
    """
    rng, chosen = np.random.default_rng(7), np.random.default_rng(8)
    arrays, steps = [], []
    for low, high in entry.domain:
        share = (rng.permutation(COUNT) + rng.uniform(size=COUNT)) / COUNT
        x = np.exp(np.log(low) + share * np.log(high / low)) if low > 0 else low + (high - low) * (0.1 + 0.8 * share)
        within = ROUND[(low < ROUND) & (ROUND < high)]
        if len(within) and entry.name not in UNLIKE:
            x[: COUNT // 4] = chosen.choice(within, COUNT // 4)
        arrays.append(x)
        steps.append(2e-3 * x if low > 0 else np.full(COUNT, 1e-3 * (high - low)))
    return arrays, steps


def one_at_a_time(steps: list[np.ndarray], places: list[int]) -> list[list]:
    """The directions in each argument of ``places`` alone; what comes behind the arguments stays."""
    return [[step if i == j else 0.0 for j, step in enumerate(steps)] + [0.0] * len(steps) for i in places]


def moving(entry: Primitive, node: Node) -> list[int]:
    """The arguments to move: not those that have one value, and no derivative, as what says which function it is."""
    given = entry.partials(*node.args, node) if entry.partials is not None else node.args
    known = zip(given, entry.domain, strict=True)
    return [i for i, (partial, (low, high)) in enumerate(known) if partial is not None or low < high]


def moved(nodes: list[Node], arrays: list[np.ndarray], directions: list[list]) -> np.ndarray:
    """What each of ``nodes`` is along each direction, at each shift to both sides.

    All of them are interpreted at once: they have much in common, and most of the time goes to expanding nodes.
    """
    ways = [(side * shift, to) for to in directions for shift in SHIFTS for side in (1, -1)]
    points = [np.concatenate([x + shift * to[k] for shift, to in ways]) for k, x in enumerate(arrays)]
    values = interpret(nodes, points, {"n0": len(points[0])})
    return np.reshape([each.astype(float) for each in values], (-1, len(SHIFTS), 2, COUNT))


def assert_slopes(derivatives: list[Node], arrays: list[np.ndarray], values: np.ndarray) -> None:
    """Each derivative is the slope of what was ``moved``, by differences, where those of both orders agree: away from
    kinks and jumps.
    """
    rises = values[:, :, 0] - values[:, :, 1]
    slopes = [np.einsum("n,dnc->dc", weights, rises) / SHIFTS[0] for weights in WEIGHTS]
    found = interpret(derivatives, arrays, {"n0": COUNT})
    for derivative, coarse, fine in zip(found, *slopes, strict=True):
        smooth = np.isclose(coarse, fine, rtol=1e-6, atol=1e-8 * np.abs(fine).max() + 1e-12)
        assert smooth.mean() > 0.6
        scale = np.abs(fine[smooth]).max()
        np.testing.assert_allclose(derivative[smooth], fine[smooth], rtol=1e-6, atol=1e-8 * scale + 1e-12)


@pytest.fixture(scope="module", autouse=True)
def together() -> Iterator[None]:
    """Entries that are numbers of one integral are tested at the same points, and share it."""
    with remembering():
        yield


@pytest.fixture(scope="module", params=WITH_DOMAIN)
def entry(request: pytest.FixtureRequest) -> Primitive:
    """All tests of an entry follow each other, and share what they compute."""
    return request.param


@contextlib.contextmanager
def found_by_kernel(name: str) -> Iterator[None]:
    """Inside, the interpreter has a routine compiled, for the same values."""
    entry = PRIMITIVES[name]

    def meaning(*arrays: np.ndarray) -> np.ndarray:
        with as_written():
            return LazyArray(entry(*[lazy(np.asarray(each, np.float64)).node for each in arrays])).compute()

    _expanded.cache_clear()  # of programs that know their meanings
    with mock.patch.dict(PRIMITIVES, {name: replace(entry, meaning=meaning)}):
        yield
    _expanded.cache_clear()


@dataclass
class Along:
    """An entry and those of its partials that have some, and what they are along each argument."""

    nodes: list[Node]
    values: np.ndarray
    places: list[int]
    leaves: list[Node]
    sizes: list[Node]
    arrays: list[np.ndarray]

    def slopes(self, node: Node) -> list[Node]:
        along = partials(node, self.leaves)
        return [along[place] * self.sizes[place] for place in self.places]


@pytest.fixture(scope="module")
def along(entry: Primitive) -> Along | None:
    if entry.name in LAST:
        return None
    leaves, sizes = arguments_and_sizes(entry)
    arrays, steps = draw(entry)
    node = entry(*leaves)
    firsts = partials(node, leaves) if entry.partials is not None else ()
    nodes = [node, *(first for first in firsts if not any(below.op in LAST for below in topological((first,))))]
    places = moving(entry, node)
    with found_by_kernel(entry.name) if entry.name in SEARCHED else contextlib.nullcontext():
        values = moved(nodes, arrays + steps, one_at_a_time(steps, places))
    return Along(nodes, values, places, leaves, sizes, arrays + steps)


def test_entries_without_a_domain_are_known() -> None:
    own = [each for each in PRIMITIVES.values() if each.module.startswith("vecdist.")]  # tests define others
    found = {each.name for each in own if not each.domain and not each.seldom}
    assert found - {"cube"} == ON_BITS | RANDOM | TOGETHER, "a cube is that of an example, where it was run before"


@pytest.mark.parametrize("dtype", DTYPES)
def test_value_is_the_oracles(entry: Primitive, dtype: type) -> None:
    arrays = [x.astype(dtype) for x in draw(entry)[0]]
    found = value(entry(*slots(entry.arity, dtype)), arrays)
    assert found.dtype == (np.bool_ if entry.boolean else dtype)
    if entry.oracle is None:
        assert np.isfinite(found).all()
        return
    module, name = entry.oracle.rsplit(".", 1)
    expected = getattr(importlib.import_module(module), name)(*(x.astype(np.float64) for x in arrays))
    if entry.boolean:
        np.testing.assert_array_equal(found, expected)
    else:
        slack = (64 if dtype == np.float64 else 8) * np.finfo(dtype).eps  # SciPy's betaln is off by 60 in float64
        np.testing.assert_allclose(found, expected, rtol=slack, atol=slack)


def test_partials_are_slopes(entry: Primitive, along: Along | None) -> None:
    if along is None or entry.boolean:
        return
    assert_slopes(along.slopes(along.nodes[0]), along.arrays, along.values[: len(along.places)])


def test_second_partials_are_slopes_of_partials(entry: Primitive, along: Along | None) -> None:
    if along is None or not along.nodes[1:]:
        return
    slopes = [slope for first in along.nodes[1:] for slope in along.slopes(first)]
    assert_slopes(slopes, along.arrays, along.values[len(along.places) :])


def test_tangent_is_the_slope_along_a_direction(entry: Primitive) -> None:
    """One direction through all arguments at once, forward: for the rules that choose a tangent instead of scaling.

    Of the others it is the sum of the partials, which are slopes themselves, each times what its argument moves.
    """
    if entry.boolean or entry.name in LAST:
        return
    count = entry.arity
    leaves = slots(2 * count, np.float64)
    node = entry(*leaves[:count])
    arrays, steps = draw(entry)
    rng = np.random.default_rng(11)
    direction = [step * rng.uniform(0.3, 1.0, COUNT) for step in steps]
    tangent = pushforward(node, dict(zip(leaves[:count], leaves[count:], strict=True)))
    given = [*arrays, *direction]
    if entry.tangent is None:
        terms = [slope * to for slope, to in zip(partials(node, leaves[:count]), leaves[count:], strict=True)]
        found, *parts = interpret([tangent, *terms], given, {"n0": COUNT})
        wanted, smooth = np.sum(parts, axis=0), np.isfinite(parts).all(axis=0)
        assert smooth.mean() > 0.6
        room = 1e-12 * np.abs(parts).sum(axis=0)[smooth]
        assert (np.abs(found - wanted)[smooth] <= room).all()
        return
    assert_slopes([tangent], given, moved([node], given, [[*direction, *[0.0] * count]]))


def test_partials_in_float32_are_those_in_float64(entry: Primitive) -> None:
    if entry.boolean or entry.name in LAST:
        return
    arrays = [x.astype(np.float32) for x in draw(entry)[0]]
    found, expected = (
        interpret(partials(entry(*leaves), leaves), [x.astype(dtype) for x in arrays], {"n0": COUNT})
        for dtype in (np.float32, np.float64)
        for leaves in [slots(entry.arity, dtype)]
    )
    for single, double in zip(found, expected, strict=True):
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=2e-5, atol=2e-6 * max(1.0, np.abs(double).max() * 1e-3))


@pytest.mark.parametrize("name", sorted(LAST))
def test_the_last_derivatives_refuse(name: str) -> None:
    entry = PRIMITIVES[name]
    leaves = slots(entry.arity, np.float64)
    with pytest.raises(NotImplementedError, match=name):
        partials(entry(*leaves), leaves)


def test_operations_on_integers_and_bits() -> None:
    x, y = slots(2, np.int64)
    arrays = [np.array([0, 1, 5, 12, 30]), np.array([3, 1, 2, 0, 4])]
    for node, expected in [
        (x & y, arrays[0] & arrays[1]), (x | y, arrays[0] | arrays[1]), (bit_xor(x, y), arrays[0] ^ arrays[1]),
        (x << 3, arrays[0] * 8), (x >> 2, arrays[0] // 4), (~(x < y), arrays[0] >= arrays[1]),
        (where(x < y, x, y), np.minimum(*arrays)), (cast(x, np.float32), arrays[0].astype(np.float32)),
    ]:
        found = value(node, arrays)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_and_back(dtype: type) -> None:
    (x,) = slots(1, dtype)
    array = np.array([0.0, -0.0, 1.0, -2.5, np.inf, 1e-310], dtype)
    assert value(bits(x), [array])[2] == (0x3FF0000000000000 if dtype == np.float64 else 0x3F800000)
    np.testing.assert_array_equal(value(from_bits(bits(x)), [array]), array)


def derivative(name: str, i: int, *arguments: float, order: tuple[int, ...] = ()) -> float:
    """The partial derivative in argument ``i``, and then in those of ``order``, at a point."""
    leaves = slots(len(arguments), np.float64)
    node = PRIMITIVES[name](*leaves)
    for j in (i, *order):
        node = partials(node, leaves)[j]
    return float(value(node, [np.array([x]) for x in arguments])[0])


@pytest.mark.parametrize(("name", "i", "arguments", "expected"), [
    ("xlogy", 0, (0.0, 2.0), np.log(2.0)), ("xlogy", 0, (0.0, 0.0), -np.inf), ("xlogy", 1, (0.0, 0.0), 0.0),
    ("xlogy", 1, (0.0, 2.0), 0.0), ("xlogy", 1, (3.0, 0.0), np.inf), ("xlogy", 1, (3.0, 2.0), 1.5),
    ("xlog1py", 0, (0.0, 1.0), np.log(2.0)), ("xlog1py", 0, (0.0, -1.0), -np.inf), ("xlog1py", 1, (0.0, -1.0), 0.0),
    ("pow", 0, (0.0, 2.0), 0.0), ("pow", 0, (0.0, 1.0), 1.0), ("pow", 0, (0.0, 0.5), np.inf),
    ("pow", 0, (0.0, 0.0), 0.0),
    ("pow", 0, (-2.0, 3.0), 12.0), ("pow", 1, (0.0, 2.0), 0.0), ("pow", 1, (1.0, 5.0), 0.0),
    ("logaddexp", 0, (-np.inf, 1.0), 0.0), ("logaddexp", 1, (-np.inf, 1.0), 1.0), ("logaddexp", 0, (np.inf, 1.0), 1.0),
    ("logaddexp", 0, (-np.inf, -np.inf), 0.5), ("logaddexp", 0, (1e3, -1e3), 1.0),
    ("sigmoid", 0, (800.0,), 0.0), ("log_sigmoid", 0, (-800.0,), 1.0), ("softplus", 0, (-np.inf,), 0.0),
    ("maximum", 0, (1.0, 1.0), 0.5), ("maximum", 1, (1.0, 1.0), 0.5), ("maximum", 0, (2.0, 1.0), 1.0),
    ("minimum", 0, (-0.0, 0.0), 0.5), ("minimum", 1, (0.0, -0.0), 0.5), ("minimum", 1, (2.0, 1.0), 1.0),
    ("remainder", 0, (4.0, 2.0), 1.0), ("remainder", 1, (4.0, 2.0), -2.0), ("remainder", 1, (0.0, 2.0), 0.0),
    ("remainder", 1, (-4.0, 2.0), 2.0), ("remainder", 1, (-3.0, 2.0), 2.0), ("remainder", 1, (3.0, -2.0), 2.0),
    ("remainder", 1, (-1.0, np.inf), 1.0), ("remainder", 1, (np.nextafter(3.0, 0.0), 1.0), -2.0),
    ("fmod", 0, (4.0, 2.0), 1.0), ("fmod", 1, (4.0, 2.0), -2.0), ("fmod", 1, (-4.0, 2.0), 2.0),
    ("fmod", 1, (np.nextafter(0.3, 0.0), 0.1), -2.0), ("fmod", 1, (-3.0, 2.0), 1.0),
    ("floor_divide", 0, (4.0, 2.0), 0.0), ("floor_divide", 1, (4.0, 2.0), 0.0), ("floor", 0, (2.0,), 0.0),
    ("rint", 0, (0.5,), 0.0), ("ceil", 0, (-0.0,), 0.0), ("trunc", 0, (1.0,), 0.0), ("sign", 0, (0.0,), 0.0),
    ("abs", 0, (0.0,), 0.0), ("sqrt", 0, (0.0,), np.inf), ("square", 0, (0.0,), 0.0),
    ("hypot", 0, (0.0, 0.0), 0.0), ("lgamma_delta", 0, (1e12, 0.5), 0.5e-12), ("digamma_delta", 0, (4.0, 0.0), 0.0),
])
def test_derivatives_at_edges(name: str, i: int, arguments: tuple, expected: float) -> None:
    assert derivative(name, i, *arguments) == pytest.approx(expected, rel=1e-12, abs=0)


def test_second_derivatives_at_edges() -> None:
    assert derivative("square", 0, 0.0, order=(0,)) == 2.0
    assert derivative("pow", 0, 0.0, 3.0, order=(0,)) == 0.0
    assert derivative("pow", 0, 0.0, 1.0, order=(0,)) == 0.0
    assert derivative("hypot", 0, 0.0, 2.0, order=(0,)) == 0.5
    assert derivative("maximum", 0, 1.0, 1.0, order=(1,)) == 0.0
    assert derivative("pow", 0, 0.0, 2.0, order=(0,)) == 2.0
    assert derivative("xlogy", 0, 0.0, 4.0, order=(1,)) == 0.25
    assert derivative("xlogy", 1, 0.0, 4.0, order=(0,)) == 0.25
