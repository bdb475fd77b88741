"""Products of any number of arrays: ``np.einsum`` in all forms of text."""

import numpy as np
import pytest

from vecdist import hessian, lazy, value_and_grad

pytestmark = pytest.mark.usefixtures("uncompiled")

RNG = np.random.default_rng(8)
FORMS = {
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iji->j": [(3, 2, 3)],
    "iiij->ji": [(2, 2, 2, 3)],
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)],
    "...i, i...": [(2, 3), (3, 2)],
    "i...->...": [(3, 2, 2)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 2)],
    "ij,jk,kl,lm": [(2, 3), (3, 4), (4, 2), (2, 5)],
    "bi,ij,bj->b": [(4, 3), (3, 3), (4, 3)],
    "i,i,i,->i": [(3,), (3,), (3,), ()],
    "ij,kj->ki": [(2, 3), (4, 3)],
    "ii,ij,...j->...": [(3, 3), (3, 2), (4, 2)],
    "ij,jk,k->i": [(2, 0), (0, 4), (4,)],
}

def close(found, wanted):
    found = np.asarray(found)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    tolerance = 1e-12 if wanted.dtype == "f8" else 1e-4
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("form", FORMS)
def test_values(form, dtype):
    arrays = [np.asarray(RNG.normal(size=shape), dtype) for shape in FORMS[form]]
    close(np.einsum(form, *map(lazy, arrays)), np.asarray(np.einsum(form, *arrays)))


@pytest.mark.parametrize("form", ["iji->j", "...ij,...jk->...ik", "ij,jk,kl->il", "bi,ij,bj->b"])
def test_gradients_are_complex_steps(form):
    arrays = [RNG.normal(size=shape) for shape in FORMS[form]]
    _, slopes = value_and_grad((np.einsum(form, *map(lazy, arrays)) ** 2).sum(), wrt=tuple(arrays))
    for place, slope in enumerate(slopes):
        moved = [array.astype(complex) for array in arrays]
        for at in np.ndindex(slope.shape):
            moved[place][at] += 1e-30j
            wanted = (np.einsum(form, *moved) ** 2).sum().imag / 1e-30
            moved[place][at] = arrays[place][at]
            np.testing.assert_allclose(slope[at], wanted, rtol=1e-10, atol=1e-12)


def test_the_hessian_of_a_diagonal_in_a_product_of_three():
    """A polynomial of degree four: central differences of its gradient, by complex steps, are near exact."""
    a, b, step = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), 1e-4

    def target(x):
        return (np.einsum("ii,ij,kj->k", x, b, x) ** 2).sum()

    found = hessian(target(lazy(a)), wrt=a)
    for at in np.ndindex(a.shape):
        for other in np.ndindex(a.shape):
            up, down = a.astype(complex), a.astype(complex)
            up[other] += 1e-30j
            down[other] += 1e-30j
            up[at] += step
            down[at] -= step
            wanted = (target(up).imag - target(down).imag) / 1e-30 / (2 * step)
            np.testing.assert_allclose(found[(*at, *other)], wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.einsum(x, [0, 1], x, [1, 2]), TypeError, "subscripts as text"),
    (lambda x: np.einsum("...i,...i->i", x, x), ValueError, "lacks the axes"),
    (lambda x: np.einsum("ijk...", x), ValueError, "names 3 axes"),
])
def test_what_does_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call(lazy(np.ones((3, 4))))
