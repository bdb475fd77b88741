"""``np.einsum`` of lazy arrays, of texts and shapes that hypothesis makes: values, and derivatives by linearity."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreting import by_interpreter, nothing_computed

from vecdist import LazyArray, hvp, lazy, value_and_grad

LETTERS = "aBcd"


@st.composite
def products(draw):
    """A text of up to four terms, with letters that repeat and ``...``, and arrays that fit it."""
    lengths = {letter: draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 3)) for letter in LETTERS}
    broad = draw(st.lists(st.integers(1, 3), max_size=2))
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 4))):
        letters = draw(st.lists(st.sampled_from(LETTERS), max_size=3))
        short = draw(st.sampled_from([0, 0, *LETTERS]))  # one whose axis of length 1 is repeated beside longer ones
        shape = [1 if letter == short else lengths[letter] for letter in letters]
        if draw(st.integers(0, 3)) == 0:
            place, count = draw(st.integers(0, len(letters))), draw(st.integers(0, len(broad)))
            own = [draw(st.sampled_from([1, length])) for length in broad[len(broad) - count :]]
            letters.insert(place, "...")
            shape[place:place] = own
        terms.append("".join(letters))
        shapes.append(shape)
    text, dots = ",".join(terms), "..." if any("..." in term for term in terms) else ""
    if draw(st.booleans()):
        there = sorted({letter for letter in text if letter.isalpha()})
        kept = draw(st.permutations(draw(st.lists(st.sampled_from(there), unique=True)) if there else []))
        place = draw(st.integers(0, len(kept)))
        text += "->" + "".join([*kept[:place], dots, *kept[place:]])
    rng = np.random.default_rng(len(text))
    return text, [rng.normal(size=shape) for shape in shapes]


def weighed(text, arrays):
    found = np.einsum(text, *arrays)
    return (found * np.cos(np.arange(found.size) + 1.0).reshape(found.shape)).sum()


@settings(max_examples=60)
@given(products(), st.sampled_from(["f8", "f4", "i4"]))
def test_values_and_dtypes_are_numpys(product, dtype):
    text, arrays = product
    arrays = [(4 * each).astype(dtype) for each in arrays]
    wanted = np.asarray(np.einsum(text, *arrays))
    with nothing_computed():
        found = np.einsum(text, *map(lazy, arrays))
    assert isinstance(found, LazyArray) and (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    near = 1e-11 if dtype == "f8" else 1e-3
    with by_interpreter():
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=near, atol=near)


@settings(max_examples=40)
@given(products())
def test_derivatives_are_those_of_what_is_linear(product):
    """A product is linear in each array: its derivative along a direction is the product with that in its place."""
    text, arrays = product
    with by_interpreter():
        value, slopes = value_and_grad(weighed(text, given := [lazy(each) for each in arrays]), given)
    np.testing.assert_allclose(value, weighed(text, arrays), rtol=1e-10, atol=1e-10)
    for place, (each, slope) in enumerate(zip(arrays, slopes, strict=True)):
        wanted = [weighed(text, [*arrays[:place], unit.reshape(each.shape), *arrays[place + 1 :]])
                  for unit in np.eye(each.size)]
        np.testing.assert_allclose(slope.ravel(), wanted, rtol=1e-10, atol=1e-10)
    if len(arrays) > 1:  # of a square of the sum: what is linear in all directions, twice
        direction = np.cos(np.arange(arrays[1].size)).reshape(arrays[1].shape)
        with by_interpreter():
            moved = value_and_grad(weighed(text, other := [given[0], lazy(direction), *given[2:]]), other[0])[1]
            mixed = hvp(weighed(text, given), given[:2], [np.zeros(arrays[0].shape), direction])[0]
        np.testing.assert_allclose(mixed, moved, rtol=1e-10, atol=1e-10)
