"""Loops along rows that no vectors fill: the last turns are one vector, and the results those of the interpreter."""

from unittest import mock

import numpy as np
import pytest
from llvmlite import ir

import vecdist
from vecdist import lazy, logsumexp, value_and_grad
from vecdist.codegen.frontend import parsed
from vecdist.kernel.code import Do, For, let
from vecdist.kernel.expressions import Name
from vecdist.runtime import lanes

LENGTHS = (17, 31, 33, 40, 63, 65, 257)  # more than are written out, beside all that vectors take
FUNCTIONS = {
    "shares of rows": lambda a, b, y: logsumexp(np.sin(a) * b + y, axis=-1).sum(),
    "answers": lambda a, b, y: np.log1p(np.exp(-y * (a - b))).sum(),
    "distances": lambda a, b, y: (np.sqrt((a - b) ** 2 + 0.1) * y).sum(),
    "largest": lambda a, b, y: (np.tanh(a * b) + np.exp(-(y**2))).max(axis=-1).sum(),
    "parts of the whole": lambda a, b, y: (y * b / (2 + y * y).sum(axis=-1, keepdims=True) - a / (1 + y * y)).sum(),
    "extremes": lambda a, b, y: (a[:, 0] * y.max(axis=-1) - (y * b).min(axis=-1)).sum(),
    "squares": lambda a, b, y: (np.sqrt((y * y).sum(axis=-1)) * (1.0 + y / 99).prod(axis=-1) * a[:, 0]).sum() + b.sum(),
    "rows that some lack": lambda a, b, y: logsumexp(np.where(y > 0.0, a + b, -np.inf), axis=-1).sum(),
}


def arguments(rows, columns, dtype):
    rng = np.random.default_rng([rows, columns])
    return [rng.normal(size=shape).astype(dtype) for shape in ((rows, 1), (columns,), (rows, columns))]


def found(function, given):
    a, b, y = map(lazy, given)
    return value_and_grad(function(a, b, y), wrt=tuple(given[:2]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_of_any_length(name, dtype, request):
    from uncompiled import uncompiled

    for rows, columns in zip((3, 5, 18, 2, 33, 4, 1), LENGTHS, strict=True):
        given = arguments(rows, columns, dtype)
        value, slopes = found(FUNCTIONS[name], given)
        with uncompiled():
            wanted, others = found(FUNCTIONS[name], [each.astype("f8") for each in given])
        tolerance = 2e-5 if dtype == "f4" else 1e-12
        np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance)
        for mine, other in zip(slopes, others, strict=True):
            np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("width", [16, 8])
def test_masks_are_asked_for_where_there_are_some(wide, masked, width):
    module = ir.Module()
    with mock.patch.object(lanes, "lanes", return_value=width):
        told = lanes.told(module, wide, masked)
    assert (told is None) == (not wide and not (masked and width == 16))
    assert ("vectorize.width" in str(module)) == wide
    assert ("predicate.enable" in str(module)) == (masked and width == 16)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("i", True), ("i - start", True), ("row * n + i", True), ("i + 3", True), ("row", True),
        ("i * n", False), ("start - i", False), ("i * n + row", False), ("made", False), ("row + made", False),
        ("i + i", False), ("i // 2", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("word", ["load", "store", "load_bytes"])
def test_only_neighbours_are_masked(word, place, expected):
    """Elements that lie apart would be read and written one by one."""
    call = Name(word)(Name("x"), parsed(place), *([Name("made")] if word == "store" else []))
    body = let("made", parsed("i % 5")), Do(call) if word == "store" else let("read", parsed("1.0") * call)
    loop = For("i", Name("n"), body, masked=True)
    assert lanes.is_beside(loop) == (expected and word != "load_bytes")
    assert not lanes.is_masked(loop)  # of so few statements, which are cheap
    dear = For("i", Name("n"), (*body, let("ratio", parsed("made / 3.0"))), masked=True)
    assert lanes.is_masked(dear) == lanes.is_beside(loop)
    assert lanes.is_row(dear) == (word == "store")
    long = For("i", Name("n"), body * lanes.SHORT, masked=True)
    assert lanes.is_masked(long) == lanes.is_beside(loop) and not lanes.is_row(long)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extremes_of_rows(dtype):
    """Several vectors at a time, and what is left of a row; NaN may be anywhere."""
    rng = np.random.default_rng(4)
    named = [(name, axes) for name in ("max", "min") for axes in (2, (0, 2))]
    compiled = [vecdist.compile(lambda x, n=name, a=axes: getattr(x, n)(axis=a)) for name, axes in named]
    for columns in (1, 15, 63, 64, 65, 127, 130, 300, 1000):
        x = rng.normal(size=(5, 4, columns)).astype(dtype)
        x[rng.integers(5), rng.integers(4), rng.integers(columns)] = np.nan
        x[rng.integers(5), rng.integers(4), rng.integers(columns)] = -np.inf
        for function, (name, axes) in zip(compiled, named, strict=True):
            np.testing.assert_array_equal(function(x), getattr(x, name)(axis=axes))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_that_are_written(dtype):
    """Each in a few statements, of known lengths and of others."""
    for columns in (3, *LENGTHS):
        for rows in (7, 2**18 // columns + 5):  # which know how many columns they have where they are many
            _, scales, x = arguments(rows, columns, dtype)
            found = np.asarray(lazy(x) / lazy(x * x).sum(axis=-1, keepdims=True) * scales)
            wanted = x / (x * x).sum(axis=-1, keepdims=True, dtype="f8") * scales
            np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == "f4" else 1e-13)


@pytest.mark.parametrize("word", ["sum", "prod", "max", "min"])
def test_short_turns_that_wait_for_each_other_are_masked(word):
    loops = [
        For("i", Name("n"), (let("total", Name(f"accumulate_{word}")(Name("total"), Name("load")(Name("x"), place))),),
            masked=True)
        for place in (parsed("row * n + i"), parsed("i * n"))
    ]  # fmt: skip
    assert [lanes.is_masked(loop) for loop in loops] == [True, False]
    assert not lanes.is_masked(For("i", Name("n"), loops[0].body))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extremes_of_rows_with_nan_and_infinities(dtype):
    """In whichever element they are, of a whole vector or of its end: NaN is larger, and smaller, than any number."""
    for columns in LENGTHS:
        x = np.random.default_rng(columns).normal(size=(3 * columns, columns)).astype(dtype)
        for row, special in enumerate((np.nan, np.inf, -np.inf) * columns):
            x[row, row // 3] = special
        across = np.ascontiguousarray(x.T)  # several of which are taken for all columns together
        np.testing.assert_array_equal(np.asarray(lazy(x).max(axis=-1)), x.max(axis=-1))
        np.testing.assert_array_equal(np.asarray(lazy(x).min(axis=-1)), x.min(axis=-1))
        np.testing.assert_array_equal(np.asarray(lazy(across).max(axis=0)), x.max(axis=-1))
        np.testing.assert_array_equal(np.asarray(lazy(across).min(axis=0)), x.min(axis=-1))
