"""Second derivatives of the logarithms of both tails, against differences of the first; and those that are refused."""

import numpy as np
import pytest
from family_cases import parameters_of, points_of
from test_hessians import FIRST, columns, real_arguments, second_partials

from vecdist import logcdf, logsf
from vecdist.lazy.derivatives import leaves_of, partials_of
from vecdist.runtime import pipeline
from vecdist.verbs.tails_and_moments import known

# The arguments in which the derivative of a distribution function has no derivative of its own: README, Limits.
REFUSED = {
    "Beta": "alpha beta", "BetaBinomial": "alpha beta", "BetaNegativeBinomial": "r alpha beta",
    "BetaPrime": "alpha beta", "Chi": "df", "Chi2": "df", "FisherSnedecor": "df1 df2", "Gamma": "shape",
    "GeneralizedNormal": "power", "HalfStudentT": "df", "HurdleGamma": "shape", "HurdleNegativeBinomial": "r",
    "InverseChi2": "df", "InverseGamma": "shape", "NegativeBinomial": "r", "NoncentralBeta": "x alpha beta nc",
    "NoncentralChi2": "df", "NoncentralFisherSnedecor": "x dfn dfd nc", "NoncentralStudentT": "x df nc loc scale",
    "NormalInverseGaussian": "x loc alpha beta delta", "ScaledInverseChi2": "df", "SkewedExponentialPower": "power",
    "Nakagami": "shape", "Pert": "low high peak weight", "PolyaGamma": "x b z", "StudentT": "df",
    "VonMises": "concentration", "WienerFirstPassage": "x alpha tau beta delta", "ZeroInflatedNegativeBinomial": "r",
    "Zipf": "power",
}
WEIGHTS = (3 / 4, -3 / 20, 1 / 60)  # of a central difference of order six (Fornberg 1988, table 1)
LARGE = {"TruncatedCauchy", "TruncatedNormal"}  # expressions, that take seconds
STEP = 2e-4  # relative
SHIFTS = [STEP * side * n for side in (1, -1) for n in (1, 2, 3)]


def tails(family, names, arguments):
    """Both, of which one may be next to 0 and the other large."""
    x, *parameters = arguments
    distribution = family(**dict(zip(names, parameters, strict=True)))
    return logcdf(distribution, x) + logsf(distribution, x)


def gradients(expr, wrt):
    leaves = leaves_of(expr, wrt)
    _, *found = pipeline.evaluate((expr.node, *leaves), partials_of, [expr.shape] * (1 + len(leaves)))
    return np.array(found)


def by_differences(family, names, rows, active):
    """The derivatives of the gradient in each argument, an array of shape (arguments, arguments, points)."""
    moved = [np.where(np.arange(rows.shape[1]) == i, 1 + t, 1.0) * rows for i in active for t in SHIFTS]
    arguments = columns(np.concatenate(moved))
    found = gradients(tails(family, names, arguments), tuple(arguments[i] for i in active))
    up, down = np.moveaxis(found.reshape(len(active), len(active), 2, 3, len(rows)), 2, 0)
    return np.einsum("n,ijnp->ijp", WEIGHTS, up - down) / (STEP * rows.T[active])


@pytest.mark.parametrize(("family", "names"), [
    pytest.param(family, names, id=family.__name__, marks=[pytest.mark.slow] if family.__name__ in LARGE else [])
    for family, names in FIRST
])
def test_second_derivatives_of_tails(interpreter, family, names):
    if not (known(family, "cdf") or known(family, "log_cdf")):
        return
    refused = REFUSED.get(family.__name__, "").split()
    every = real_arguments(family, names)
    active = [i for i in every if ["x", *names][i] not in refused]
    drawn = parameters_of(family, names, size=3)
    rows = np.array([points_of(family, names, drawn), *drawn]).T[:2]  # the next would be far out
    rows = rows[family.discrete | (rows[:, 0] != 0.0) & (rows[:, 0] != 0.999)]  # at an atom, or moved to an end
    arguments = columns(rows)
    expr = tails(family, names, arguments)
    for i in set(every) - set(active):
        with pytest.raises(NotImplementedError, match=r"has no derivative.*: leave out of wrt"):
            second_partials(expr, (arguments[i],))
    if active:
        _, found = second_partials(expr, tuple(arguments[i] for i in active))
        expected = by_differences(family, names, rows, active)
        size = np.sqrt(abs(np.einsum("iip->ip", expected)))
        slack = 1e-7 * np.maximum(abs(expected), 1e-2 * size[:, None] * size) + 1e-9
        assert (abs(found - expected) <= slack).all(), (rows, found, expected)
        np.testing.assert_allclose(found, found.swapaxes(0, 1), rtol=1e-7, atol=1e-9)
