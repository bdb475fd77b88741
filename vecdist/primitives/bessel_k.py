"""Modified Bessel functions of the second kind of the orders 0 and 1, scaled or not.

Up to ``NEAR`` a logarithm times those of the first kind, and a power series (DLMF 10.31.1, 10.31.2); beyond, a series
in 1 / x (DLMF 10.40.2), all of them minimax.
"""

from __future__ import annotations

from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import INFINITY, at_most, polynomial, width
from vecdist.primitives.table import primitive

NEAR = 2.0
# On 0 <= x <= NEAR, in x**2.  (I0(x) - 1) / x**2: relative error 5.8e-19 and 4.1e-09
I0 = {
    8: (
        0.25, 0.015624999999999997, 0.0004340277777778074, 6.781684027692961e-06, 6.781684039407043e-08,
        4.709501920219747e-10, 2.4028459067191236e-12, 9.376273491680591e-15, 3.027879677418141e-17,
    ),
    4: (
        0.25, 0.015624992, 0.00043404847, 6.765904e-06, 7.251727e-08,
    ),
}
# I1(x) / x: relative error 5.1e-18 and 2.3e-08
I1 = {
    8: (
        0.5, 0.06249999999999993, 0.0026041666666672507, 5.425347222055413e-05, 6.781684050690876e-07,
        5.651401623188382e-09, 3.364006668507997e-11, 1.4998247282219611e-13, 5.476001265406445e-16,
    ),
    4: (
        0.5, 0.062499903, 0.0026044094, 5.4066237e-05, 7.344112e-07,
    ),
}
# K0(x) + log(x / 2) I0(x), relative to K0: relative error 1.7e-18 and 7.0e-09
K0 = {
    8: (
        -0.5772156649015329, 0.10569608377461687, 0.014418505235913122, 0.0005451899602578881,
        1.0214014134586089e-05, 1.157035105148238e-07, 8.819877533053136e-10, 4.843374332361448e-12,
        2.0057760733621278e-14, 6.894993263580431e-17,
    ),
    4: (
        -0.5772157, 0.10569616, 0.014418342, 0.0005453349, 1.0153221e-05, 1.2771997e-07,
    ),
}
# (K1(x) - 1 / x - log(x / 2) I1(x)) / x, relative to K1 / x: relative error 1.6e-17 and 5.3e-08
K1 = {
    8: (
        0.03860783245076602, -0.04204902094365058, -0.002837111983774747, -7.49304290420095e-05,
        -1.0892182699624812e-06, -1.0112900572534066e-08, -6.540497344885967e-11, -3.114685437401775e-13,
        -1.2153532709128725e-15,
    ),
    4: (
        0.038607407, -0.04204772, -0.0028384584, -7.430849e-05, -1.2207167e-06,
    ),
}
# On x >= NEAR, in 1 - 2 NEAR / x.  sqrt(x) exp(x) K0(x): relative error 1.2e-17 and 3.9e-08
K0_FAR = {
    8: (
        1.2185953385133905, 0.03107146182488952, 0.003032891810275295, 0.0004797690567661458, 9.956054744660376e-05,
        2.4735204563213045e-05, 7.002244953933001e-06, 2.191177770264746e-06, 7.427878696056875e-07,
        2.6890672948776915e-07, 1.0290635670059005e-07, 4.133884213057715e-08, 1.7230203443404167e-08,
        7.2873233661713775e-09, 3.3579004402324676e-09, 1.9294248958311475e-09, 7.813460900391483e-10,
        -1.772572655798254e-10, 2.914175008097072e-11, 5.530207834756152e-10, 2.1716426104924912e-10,
        -2.2095792737543906e-10, -9.5170449579661e-11, 6.903417814935016e-11, 3.44732580267435e-11,
    ),
    4: (
        1.2185954, 0.031071447, 0.0030322531, 0.0004799599, 0.000101927486, 2.4082943e-05, 3.6764957e-06,
        2.9855014e-06, 2.4224898e-06,
    ),
}
# sqrt(x) exp(x) K1(x): relative error 1.7e-17 and 1.3e-08
K1_FAR = {
    8: (
        1.363151890371342, -0.10334973775386523, -0.005566729880075375, -0.0007357241549080122,
        -0.0001395902195672465, -3.284386556099659e-05, -8.961206967140469e-06, -2.7300414062964655e-06,
        -9.067146200707709e-07, -3.229813497031005e-07, -1.2199202570110046e-07, -4.846137634289178e-08,
        -1.997751081533608e-08, -8.410764493380521e-09, -3.923985930790747e-09, -2.1735870298641413e-09,
        -7.635927195860632e-10, 1.7752173854054656e-10, -1.5118699615436472e-10, -6.027192304734541e-10,
        -1.6704543575638568e-10, 2.393540639589074e-10, 7.81244848150923e-11, -7.515054882039172e-11,
        -3.35767060844281e-11,
    ),
    4: (
        1.3631519, -0.10334972, -0.0055669458, -0.0007359333, -0.00013890349, -3.2097825e-05, -9.66667e-06,
        -3.6618233e-06, -8.34325e-07,
    ),
}
# x (K1(x) / K0(x) - 1): relative error 5.1e-17 and 1.9e-08
GAP_FAR = {
    8: (
        0.4745022315096045, 0.02117021978443002, 0.0033202315976133814, 0.0007270063795545017,
        0.00019226141811375672, 5.77827662209886e-05, 1.9097611971490637e-05, 6.801410158398139e-06,
        2.5745100697001685e-06, 1.025488372222566e-06, 4.2669404524676915e-07, 1.8510712706830445e-07,
        8.311043842066496e-08, 3.621559619260962e-08, 1.6265859097976238e-08, 1.2341380156729818e-08,
        7.497412255492263e-09, -2.7450848763715313e-09, -2.874972405002772e-09, 4.893753928012554e-09,
        3.582943833643898e-09, -2.075614819739057e-09, -1.5128795444780124e-09, 6.151982234178336e-10,
        4.0868821312830014e-10,
    ),
    4: (
        0.47450224, 0.02117016, 0.0033201277, 0.00072777865, 0.00019292989, 5.5144737e-05, 1.7463986e-05,
        9.979495e-06, 4.170831e-06,
    ),
}


def _inner(x: Node, table: dict[int, tuple[float, ...]]) -> Node:
    return polynomial(x * x, table[width(x)])


def _outer(x: Node, table: dict[int, tuple[float, ...]]) -> Node:
    return polynomial(1.0 - (2.0 * NEAR) / x, table[width(x)])


def _k0(x: Node) -> Node:
    """K0 near 0."""
    return _inner(x, K0) - log(0.5 * x) * (1.0 + x * x * _inner(x, I0))


def _k1(x: Node) -> Node:
    """K1 near 0."""
    return where(eq(x, 0), INFINITY, 1.0 / x + x * (_inner(x, K1) + log(0.5 * x) * _inner(x, I1)))


def _k0e(x: Node) -> Node:
    return where(x > NEAR, _outer(x, K0_FAR) / sqrt(x), exp(at_most(x, NEAR)) * _k0(x))


def _k1e(x: Node) -> Node:
    return where(x > NEAR, _outer(x, K1_FAR) / sqrt(x), exp(at_most(x, NEAR)) * _k1(x))


def _shrunk(scaled: Node, near: Node, x: Node) -> Node:
    """exp(-x) times ``scaled``, and what is known without it where x is small."""
    half = exp(-0.5 * x)
    return where(x > NEAR, (scaled * half) * half, near)


def _k_ratio_gap(x: Node) -> Node:
    k0 = _k0(x)
    return where(x > NEAR, _outer(x, GAP_FAR) / x, where(eq(x, 0), INFINITY, (_k1(x) - k0) / k0))


def _gap_slope(x: Node, gap: Node) -> tuple[Node]:
    """The derivative of R = K1 / K0 is R**2 - R / x - 1."""
    return (gap * (2.0 + gap) - (1.0 + gap) / x,)


ARGUMENTS = (0.1, 60.0)

k0e = primitive(
    "k0e", expand=_k0e, partials=lambda x, out: (-(out * k_ratio_gap(x)),),
    floating=True, ufuncs=("k0e",), domain=(ARGUMENTS,), oracle="scipy.special.k0e",
)
k1e = primitive(
    "k1e", expand=_k1e, partials=lambda x, out: (out * (k_ratio_gap(x) / (1.0 + k_ratio_gap(x)) - 1.0 / x),),
    floating=True, ufuncs=("k1e",), domain=(ARGUMENTS,), oracle="scipy.special.k1e",
)
k0 = primitive(
    "k0", expand=lambda x: _shrunk(_k0e(x), _k0(x), x), partials=lambda x, out: (-k1(x),),
    floating=True, ufuncs=("k0",), domain=((0.1, 5.0),), oracle="scipy.special.k0",
)
k1 = primitive(
    "k1", expand=lambda x: _shrunk(_k1e(x), _k1(x), x), partials=lambda x, out: (-(k0(x) + out / x),),
    floating=True, ufuncs=("k1",), domain=((0.1, 5.0),), oracle="scipy.special.k1",
)
k_ratio_gap = primitive(  # K1(x) / K0(x) - 1, which tends to 1 / (2 x)
    "k_ratio_gap", expand=_k_ratio_gap, partials=_gap_slope, floating=True, domain=(ARGUMENTS,),
)
