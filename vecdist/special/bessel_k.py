"""Modified Bessel functions of the second kind of the orders 0 and 1, scaled or not.

Up to ``NEAR`` a logarithm times those of the first kind, and a power series (DLMF 10.31.1, 10.31.2), which have the
same sign there; beyond, a polynomial in what takes NEAR and infinity to -1 and 1, all of them minimax.  The point -1,
which it takes to infinity, lies on the cut of the functions, far from the singularities at its ends.
"""

from __future__ import annotations

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import INFINITY, NAN, at_most, polynomial, width
from vecdist.primitives.logarithms import log_of_sum
from vecdist.primitives.table import Primitive, primitive

NEAR = 1.0
# On 0 <= x <= NEAR, in x**2.  (I0(x) - 1) / x**2: relative error 5.2e-18 and 2.6e-09
I0: dict[int, tuple[float, ...]] = {
    8: (
        0.25, 0.01562499999999992, 0.0004340277777793149, 6.781684017867647e-06, 6.781686970731786e-08,
        4.709060734996805e-10, 2.4354507643836624e-12,
    ),
    4: (
        0.25, 0.015625013, 0.0004339502, 6.913904e-06,
    ),
}
# I1(x) / x: relative error 4.0e-17 and 1.2e-08
I1: dict[int, tuple[float, ...]] = {
    8: (
        0.5, 0.06249999999999876, 0.0026041666666908017, 5.4253472065657544e-05, 6.78168869872461e-07,
        5.650699212593448e-09, 3.416070365908547e-11,
    ),
    4: (
        0.5, 0.06250013, 0.0026034012, 5.5569646e-05,
    ),
}
# K0(x) + log(x) I0(x), relative to K0: relative error 1.3e-18 and 1.0e-09
K0: dict[int, tuple[float, ...]] = {
    8: (
        0.11593151565841245, 0.27898287891460327, 0.025248929932159533, 0.0008460350907314638, 1.4914719214554457e-05,
        1.6271073063098637e-07, 1.2082363009944159e-09, 6.620129114923425e-12,
    ),
    4: (
        0.11593152, 0.27898285, 0.025249094, 0.0008456379, 1.5340021e-05,
    ),
}
# (K1(x) - 1 / x - log(x) I1(x)) / x, relative to (K1(x) - 1 / x) / x: relative error 7.3e-18 and 2.0e-08
K1: dict[int, tuple[float, ...]] = {
    8: (
        -0.3079657578292062, -0.0853707197286512, -0.004642182766467426, -0.00011253607038476434,
        -1.5592887263415557e-06, -1.4030221722057911e-08, -8.867732235783571e-11, -4.3043250680054994e-13,
    ),
    4: (
        -0.30796573, -0.08537131, -0.0046397876, -0.00011594066,
    ),
}
# In 0.8125 - x.  x (K1(x) - K0(x)) - x log(x) (I0(x) + I1(x)), relative to the first term: relative error 4.4e-17 and
# 8.8e-08
GAP: dict[int, tuple[float, ...]] = {
    8: (
        0.5051573708544079, 1.418879500794088, -1.4992483984459883, 0.7884653644551787, -0.2540024959021022,
        0.06397132996089616, -0.012379752362932555, 0.002060352718281412, -0.00028598699532823466,
        3.5597505128171304e-05, -3.85687260913934e-06, 3.8314848518091083e-07, -3.3217796134771956e-08,
        2.15716055378339e-09,
    ),
    4: (
        0.50515735, 1.4188794, -1.499247, 0.78846985, -0.25403732, 0.06396059, -0.012092622, 0.0015635636,
    ),
}
# On x >= NEAR, in 1 - 4 / (x + 1).  sqrt(x) exp(x) K0(x): relative error 4.5e-17 and 1.8e-08
K0_FAR: dict[int, tuple[float, ...]] = {
    8: (
        1.2085585393824039, 0.05190414200069999, -0.009047854303706101, 0.002344354038358621, -0.0005746200405362599,
        0.00016278282390900177, -4.3525611056882774e-05, 1.3010580825891126e-05, -3.5911419862779355e-06,
        1.124959038941313e-06, -3.1010997228566956e-07, 1.0307967913098522e-07, -2.7066815400692566e-08,
        1.0104889218087488e-08, -2.4917585463055885e-09, 9.430715978951318e-10, 2.3864007536161518e-11,
        2.5133451610438755e-10, -1.164358534691887e-10, -5.2720970505568827e-11, 3.719735439100663e-11,
        2.5216678960928612e-11,
    ),
    4: (
        1.2085586, 0.051904093, -0.0090480875, 0.002345003, -0.00057395885, 0.0001604862, -4.397008e-05,
        1.5940192e-05, -3.9315496e-06,
    ),
}
# sqrt(x) exp(x) K1(x): relative error 7.7e-17 and 5.4e-08
K1_FAR: dict[int, tuple[float, ...]] = {
    8: (
        1.3970089271126294, -0.17753773382085042, 0.04365061563750948, -0.012635408079175717, 0.003692846928624782,
        -0.001126934887668858, 0.00034412685246967535, -0.0001077177399954298, 3.3556301782267004e-05,
        -1.0673200430314165e-05, 3.358416987588937e-06, -1.0820075209174268e-06, 3.4144044607533987e-07,
        -1.1169537149792599e-07, 3.517351217063403e-08, -1.1538163099059101e-08, 3.4826215560907014e-09,
        -1.420452405114932e-09, 4.1494769617183515e-10, -3.411095593183826e-11, 2.784859509573481e-11,
        -5.0139380372483344e-11,
    ),
    4: (
        1.3970089, -0.17753726, 0.043650854, -0.012641683, 0.003693499, -0.0011047613, 0.0003388448, -0.00013590862,
        4.1697193e-05,
    ),
}
# x (K1(x) / K0(x) - 1): relative error 2.5e-17 and 2.5e-08
GAP_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.4677896392834906, 0.03408664309589575, -0.0028192991015481305, 0.0010315766739040029,
        -0.00014801246607267274, 6.342917703497802e-05, -9.12193025276468e-06, 5.084003535489888e-06,
        -5.125884409585405e-07, 4.966307209768697e-07, -4.93701977027234e-09, 5.995637910682354e-08,
        7.2133516319838195e-09, 8.86926535305556e-09, 3.1428905930595947e-09, 2.2691271813535932e-09,
        -2.7007583779361244e-10, -3.3757192826977775e-10, 1.0831824445689368e-09, 7.505097483408824e-10,
        -4.494763678871774e-10, -3.150647999111574e-10, 1.5017210354971845e-10, 9.606325886646025e-11,
    ),
    4: (
        0.46778965, 0.03408662, -0.0028194396, 0.0010318956, -0.0001475051, 6.2321946e-05, -9.811771e-06,
        6.4617934e-06, -1.9345508e-07,
    ),
}


def _inner(x: Node, table: dict[int, tuple[float, ...]]) -> Node:
    return polynomial(x * x, table[width(x)])


def _outer(x: Node, table: dict[int, tuple[float, ...]]) -> Node:
    return polynomial(1.0 - 4.0 / (x + 1.0), table[width(x)])


def _log(x: Node) -> Node:
    """log(x) near 0."""
    return log(at_most(x, NEAR))


def _k0(x: Node) -> Node:
    """K0 near 0."""
    return _inner(x, K0) - _log(x) * (1.0 + x * x * _inner(x, I0))


def _beyond_half(x: Node) -> Node:
    """I1(x) / x - 1/2."""
    return x * x * polynomial(x * x, I1[width(x)][1:])


def _less_one(x: Node) -> Node:
    """x K1(x) - 1 near 0; the factor 1/2 of the logarithm is exact."""
    logarithm = _log(x)
    return where(eq(x, 0), x, x * x * (0.5 * logarithm + (_inner(x, K1) + logarithm * _beyond_half(x))))


def _k1(x: Node) -> Node:
    """K1 near 0."""
    return (1.0 + _less_one(x)) / x


def _k0e(x: Node) -> Node:
    return where(x > NEAR, _outer(x, K0_FAR) / sqrt(x), exp(at_most(x, NEAR)) * _k0(x))


def _k1e(x: Node) -> Node:
    return where(x > NEAR, _outer(x, K1_FAR) / sqrt(x), exp(at_most(x, NEAR)) * _k1(x))


def _shrunk(scaled: Node, near: Node, x: Node) -> Node:
    """exp(-x) times ``scaled``, and what is known without it where x is small."""
    half = exp(-0.5 * x)
    return where(x > NEAR, (scaled * half) * half, near)


def _k_ratio_gap(x: Node) -> Node:
    """Near 0 the quotient of x (K1(x) - K0(x)) and x K0(x)."""
    inner = at_most(x, NEAR)
    both = 1.0 + inner * (0.5 + (_beyond_half(inner) + inner * _inner(inner, I0)))
    difference = polynomial(0.8125 - inner, GAP[width(x)]) + inner * _log(x) * both
    near = where(eq(x, 0), INFINITY, difference / (inner * _k0(inner)))
    return where(x > NEAR, _outer(x, GAP_FAR) / x, near)


def _log_xk1_parts(x: Node) -> tuple[Node, Node]:
    """Whether x is far from 0, and log(x K1(x)), with x added where it is."""
    far = x > NEAR
    return far, log_of_sum(where(far, sqrt(x) * _outer(x, K1_FAR), 1.0), where(far, 0.0, _less_one(at_most(x, NEAR))))


def _log_xk1e(x: Node) -> Node:
    far, y = _log_xk1_parts(x)
    return where((x >= 0) & (x < INFINITY), y + where(far, 0.0, x), where(x > 0, x, const(NAN, x.dtype)))


def _log_xk1(x: Node) -> Node:
    far, y = _log_xk1_parts(x)
    return where((x >= 0) & (x < INFINITY), y - where(far, x, 0.0), where(x > 0, -x, const(NAN, x.dtype)))


def _gap_slope(x: Node, gap: Node) -> tuple[Node]:
    """The derivative of R = K1 / K0 is R**2 - R / x - 1."""
    return (gap * (2.0 + gap) - (1.0 + gap) / x,)


ARGUMENTS = (0.1, 60.0)

k0e: Primitive = primitive(
    "k0e", expand=_k0e, partials=lambda x, out: (-(out * k_ratio_gap(x)),),
    floating=True, ufuncs=("k0e",), domain=(ARGUMENTS,), oracle="scipy.special.k0e",
)
k1e: Primitive = primitive(
    "k1e", expand=_k1e, partials=lambda x, out: (out * (k_ratio_gap(x) / (1.0 + k_ratio_gap(x)) - 1.0 / x),),
    floating=True, ufuncs=("k1e",), domain=(ARGUMENTS,), oracle="scipy.special.k1e",
)
k0: Primitive = primitive(
    "k0", expand=lambda x: _shrunk(_k0e(x), _k0(x), x), partials=lambda x, out: (-k1(x),),
    floating=True, ufuncs=("k0",), domain=((0.1, 5.0),), oracle="scipy.special.k0",
)
k1: Primitive = primitive(
    "k1", expand=lambda x: _shrunk(_k1e(x), _k1(x), x), partials=lambda x, out: (-(k0(x) + out / x),),
    floating=True, ufuncs=("k1",), domain=((0.1, 5.0),), oracle="scipy.special.k1",
)
k_ratio_gap: Primitive = primitive(  # K1(x) / K0(x) - 1, which tends to 1 / (2 x)
    "k_ratio_gap", expand=_k_ratio_gap, partials=_gap_slope, floating=True, domain=(ARGUMENTS,),
)
log_xk1e: Primitive = primitive(  # log(x K1(x)) + x, which is 0 at 0
    "log_xk1e", expand=_log_xk1e, partials=lambda x, out: (1.0 / (1.0 + 1.0 / k_ratio_gap(x)),),
    floating=True, domain=(ARGUMENTS,),
)
log_xk1: Primitive = primitive(  # log(x K1(x)), whose slope is -K0 / K1
    "log_xk1", expand=_log_xk1, partials=lambda x, out: (-1.0 / (1.0 + k_ratio_gap(x)),),
    floating=True, domain=(ARGUMENTS,),
)
