"""What is gathered or broadcast is computed once, also behind sums; results beside NumPy."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy, log_softmax, logpdf, logpmf, logsumexp, softmax, value_and_grad
from vecdist.codegen.cuda import parted_chains
from vecdist.distributions import Bernoulli, Normal
from vecdist.graph.leaves import leaf
from vecdist.inspect import explain
from vecdist.kernel.expressions import Name
from vecdist.kernel.statements import Assign, Load, Store
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.hoist import DEAR, Repeated, narrow
from vecdist.passes.order import Structure, derived
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, structure, values


def kernel_of(result, wrt=()):
    bound = bind((result.node, *map(leaf, wrt)))
    return lower(bound, gradient_of if wrt else values)[1]


def in_memory(kernel):
    """The number of axes of each output that is no result."""
    return sorted(sum(dim != 1 for dim in output.shape) for output in kernel.outputs if output.temporary)


def test_what_a_sum_normalises_is_computed_once_for_all_that_pick_it():
    logits, picks = np.linspace(-1.0, 2.0, 5), np.arange(40) % 5
    chosen = softmax(lazy(logits))[picks]
    kernel = kernel_of((chosen**2).sum())
    assert any(output.temporary and len(output.shape) == 1 for output in kernel.outputs)
    wanted = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose((chosen**2).sum(), (wanted[picks] ** 2).sum(), rtol=1e-13)


@pytest.mark.parametrize(("count", "kept"), [(3, False), (999, False), (1000, True), (5000, True)])
def test_few_elements_that_are_picked_are_computed_alone(count, kept):
    theta, picks = np.linspace(-2.0, 2.0, 1000), np.arange(count) * 7 % 1000
    result = np.exp(lazy(theta) * 0.3 + 0.1)[picks]
    assert any(output.kept and output.dtype.kind == "f" for output in kernel_of(result).outputs) == kept
    np.testing.assert_allclose(result, np.exp(theta * 0.3 + 0.1)[picks], rtol=1e-14)


def test_weights_that_sums_normalise_are_not_computed_again_for_each_row():
    logits, x = np.linspace(-1.0, 2.0, 6).reshape(2, 3), np.linspace(0.0, 1.0, 50)
    weights = np.exp(log_softmax(lazy(logits), axis=1))
    rows = np.sin(lazy(x)[:, None, None] * weights).sum(axis=(1, 2))
    assert 2 in in_memory(kernel_of(rows))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, np.sin(x[:, None, None] * shares).sum(axis=(1, 2)), rtol=1e-13)


def test_a_sum_that_elements_read_through_a_reshape_is_one():
    """Not a sum for each element of the row."""
    flat = np.linspace(-1.0, 1.0, 12)
    total = (log_softmax(lazy(flat).reshape(3, 4), axis=1) * np.arange(4.0)).sum()
    bound = bind((total.node, leaf(flat)))
    kernel = lower(bound, gradient_of)[1]
    for _, nest in kernel.nests():
        assert np.prod([bound.lengths.get(dim, 1) for dim in nest.dims()]) <= 12
    rows = flat.reshape(3, 4)
    share = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(value_and_grad(total, wrt=flat)[1], (np.arange(4.0) - 6.0 * share).ravel(), rtol=1e-12)


def test_cotangents_of_what_is_broadcast_are_summed_once_however_many_made_it():
    sizes = []
    for count in (6, 12):
        v, design = np.linspace(0.1, 1.0, count), np.cos(np.arange(30.0 * count)).reshape(30, count)
        total = ((design * np.stack([np.exp(lazy(v)[k]) for k in range(count)])).sum(axis=1) ** 2).sum()
        sizes.append(sum(output.summed for output in kernel_of(total, wrt=(v,)).outputs))
        residual = design @ np.exp(v)
        np.testing.assert_allclose(value_and_grad(total, wrt=v)[1], 2.0 * (residual @ design) * np.exp(v), rtol=1e-11)
    assert sizes[0] == sizes[1] <= 1


def test_logarithms_that_sums_normalise_are_not_computed_again_for_each_pick():
    """Of a row there is one logarithm, which loops over its elements read; an element that is picked alone has none."""
    rng = np.random.default_rng(5)
    table, picks = rng.normal(size=(3, 4, 2)), rng.integers(0, 2, (50, 3))
    shares = (lazy(table) - logsumexp(lazy(table), axis=-1, keepdims=True))[np.arange(3), :, picks]
    *_, picking = [nest for _, nest in kernel_of(shares).nests()]
    assert len(picking.dims()) == 3
    assert not any(item.op == "shr" for item in picking.body.walk() if isinstance(item, Assign))  # exponents, of logs
    plain = table - np.log(np.exp(table).sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(shares, plain[np.arange(3), :, picks], rtol=1e-13)


@pytest.mark.parametrize(("terms", "kept"), [(2, False), (40, True)])
def test_sums_of_which_a_maximum_is_taken_first_are_computed_once(terms, kept):
    """Of few terms they are sooner computed again."""
    rng = np.random.default_rng(6)
    x, w = rng.normal(size=(30, 1, terms)), rng.normal(size=(5, terms))
    totals = logsumexp((lazy(x) * lazy(w)).sum(axis=-1), axis=-1)
    assert (2 in in_memory(kernel_of(totals))) == kept
    plain = np.log(np.exp((x * w).sum(axis=-1)).sum(axis=-1))
    np.testing.assert_allclose(totals, plain, rtol=1e-13)
    _, (slopes,) = value_and_grad(totals.sum(), wrt=(x,))
    shares = np.exp((x * w).sum(axis=-1) - plain[:, None])
    np.testing.assert_allclose(slopes, (shares[..., None] * w).sum(1, keepdims=True), rtol=1e-12, atol=1e-14)


def test_what_is_kept_of_a_view_is_kept_once():
    """Slopes that two gradients of chains read, one of them through a view: no loop copies what another has kept."""
    y = np.zeros((200, 10))

    def density(scores, loads, noise):
        return logpdf(Normal(scores @ loads.T, np.exp(noise)), y).sum()

    arrays = np.zeros((4096, 200, 3)), np.zeros((4096, 10, 3)), np.zeros((4096, 10))
    roots, derivation, *_ = vecdist.compile(density, in_axes=0).explained(arrays, (0, 1, 2))
    kernel = lower(bind(roots), derivation, target=Cuda)[1]
    assert 3 in in_memory(kernel)
    for _, nest in kernel.nests():
        loads = {Name(item.name) for item in nest.body.walk() if isinstance(item, Load)}
        assert loads.isdisjoint(item.value for item in nest.body.walk() if isinstance(item, Store))


def test_what_takes_few_operations_of_what_is_kept_is_not_kept_beside_it(monkeypatch):
    """Neither the slopes of items, with the other sign, nor loops that would have to wait for those."""
    monkeypatch.setattr(parted_chains, "GAIN", np.inf)  # of parts, which wait for what they leave each other
    y = np.zeros((200, 20))

    def density(abilities, levels, slopes):
        logits = np.exp(slopes) * (abilities[:, None] - levels)
        return logpmf(Bernoulli(logit=logits), y).sum()

    arrays = np.zeros((4096, 200)), np.zeros((4096, 20)), np.zeros((4096, 20))
    roots, derivation, *_ = vecdist.compile(density, in_axes=0).explained(arrays, (0, 1, 2))
    kernel = lower(bind(roots), derivation, target=Cuda)[1]
    floats = [output for output in kernel.outputs if output.temporary and output.dtype.kind == "f"]
    assert len(floats) == 1
    assert len({level for level, nest in kernel.shared_nests() if len(nest.dims()) == 3}) == 1


@pytest.mark.parametrize("seed", range(20))
def test_random_functions_of_values_that_are_kept(seed):
    """Read by loops over rows, as they are and in forms that take few operations or many; beside NumPy."""
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=(40, 1)), rng.normal(0.0, 0.3, 30)
    forms = [np.negative, np.sin, lambda e: 2.0 - e, lambda e: e * e + 1.0, lambda e: np.exp(-e), lambda e: 1 / (2 + e)]
    chosen = [forms[k] for k in rng.integers(0, len(forms), 3)]

    def total(x, s):
        e = np.exp(0.5 * s) + 0.1 * s**3
        return sum(np.tanh(x * each(e) + k).sum() for k, each in enumerate(chosen)) + np.cos(x * e).sum()

    value, slopes = value_and_grad(total(lazy(x), lazy(s)), wrt=(x, s))
    np.testing.assert_allclose(value, total(x, s), rtol=1e-12)
    for array, slope in zip((x, s), slopes, strict=True):
        step = rng.normal(size=array.shape)
        ends = [total(*(each + h * step if each is array else each for each in (x, s))) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose((slope * step).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-6)


def test_few_operations_are_counted_from_what_is_kept_in_the_end():
    """What takes three operations of a value that is not kept itself takes six of the one that is."""
    x = lazy(np.linspace(0.1, 0.9, 30))
    first = np.exp(np.sin(np.exp(np.sin(np.exp(x)))))
    second = 1.0 - np.sqrt(first) * x
    third = np.exp(2.0 - second * second)
    fourth = np.exp(-np.sin(third)) * x
    found = [Repeated(each.node, (), False, DEAR, ((400,),)) for each in (fourth, third, second, first)]
    chosen = narrow(found, {}, 1024, 1024, False)
    assert [each.node for each in chosen] == [third.node, first.node]


def parts_of_sums(rng):
    """A function of NumPy's of several parts of the same sums, and its arguments."""
    x, b = rng.normal(size=int(rng.integers(2, 60))), rng.normal(size=int(rng.integers(4, 12)))
    cuts = [slice(None, -1), slice(1, None), slice(None, None, -1), slice(1, -1, 2), slice(None)]
    first, last = (cuts[place] for place in rng.choice(len(cuts), 2, replace=False))

    def function(x, b):
        sums = np.tanh(x[:, None] * b).sum(axis=0)
        one, other = np.exp(0.1 * sums)[first], np.cumsum((0.5 * sums)[last])
        return (one * one).sum() + (np.sin(other)).sum()

    return function, x, b


@pytest.mark.parametrize("seed", range(4))
def test_random_parts_of_sums(seed):
    function, x, b = parts_of_sums(np.random.default_rng(seed))
    value, slope = value_and_grad(function(lazy(x), lazy(b)), wrt=b)
    np.testing.assert_allclose(value, function(x, b), rtol=1e-12)
    step = 1e-6 * np.eye(len(b))
    wanted = [(function(x, b + each) - function(x, b - each)) / 2e-6 for each in step]
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-7)


def of_a_stick(left, y):
    """A mixture by a broken stick, whose shares are read as they are and one behind."""
    shares = np.concatenate([left, np.zeros(1)]) + np.concatenate([np.zeros(1), np.cumsum(left)])
    return logsumexp(shares - np.exp((y[:, None] - np.arange(10.0)) ** 2), axis=-1).sum()


def of_parts(left, y):
    sums = np.tanh(y[:, None] * left).sum(axis=0)
    return (np.exp(0.1 * sums)[:-1] * np.cumsum((0.5 * sums)[1:])).sum()


@pytest.mark.parametrize("function", [of_a_stick, of_parts])
@pytest.mark.parametrize(("chains", "kept"), [(2**15, True), (4, False)])
def test_sums_of_which_parts_are_read_are_added_up_once_where_they_are_many(function, chains, kept):
    given = np.zeros((chains, 9)), np.linspace(-1.0, 1.0, 500)
    asked = explain._asked(vecdist.compile(function, in_axes=(0, None)), (0,), given)
    bound = structure(asked.roots, asked.derivation, asked.errors)
    part = derived(Structure(bound.roots, asked.derivation, slots=len(bound.leaves)), Cuda.passes)
    chosen = part.chosen(bound.lengths, Cuda.widest)
    assert any(each.node.op == "sum" for each in chosen.values) is kept
