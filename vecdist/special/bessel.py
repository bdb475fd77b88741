"""Modified Bessel functions of the first kind of the orders 0 and 1, scaled, their logarithm and their ratio.

Below ``NEAR`` they are power series in x**2, beyond series in 1 / x (DLMF 10.25.2, 10.40.1), minimax both.
"""

from __future__ import annotations

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp
from vecdist.primitives.floating import INFINITY, at_least, head, polynomial, width, with_sign
from vecdist.primitives.logarithms import log_of_sum
from vecdist.primitives.table import Primitive, primitive

NEAR = {8: 8.0, 4: 6.0}
SLOPE_NEAR = {8: 12.0, 4: 6.0}
# (I0(x) - 1) / x**2 in x**2 on 0 <= x <= SLOPE_NEAR: relative error 1.4e-17 and 5.8e-09
I0: dict[int, tuple[float, ...]] = {
    8: (
        0.25, 0.015625, 0.0004340277777777771, 6.7816840277782255e-06, 6.781684027766156e-08, 4.709502797230114e-10,
        2.4028075481274894e-12, 9.385967070507138e-15, 2.8969030702764584e-17, 7.242267797412241e-20,
        1.4963145532726923e-22, 2.5981169055748822e-25, 3.8391989211171567e-28, 4.93399480607523e-31,
        5.241147303925095e-34, 6.232341848826539e-37, 1.9303022893466126e-40, 7.967321111083998e-43,
    ),
    4: (
        0.25, 0.015625004, 0.00043402455, 6.782586e-06, 6.7701464e-08, 4.78616e-10, 2.1312685e-12, 1.41455375e-14,
    ),
}
# I1(x) / x, the same way: relative error 1.2e-17 and 2.9e-08
I1: dict[int, tuple[float, ...]] = {
    8: (
        0.5, 0.06250000000000003, 0.0026041666666666292, 5.425347222223961e-05, 6.781684027737905e-07,
        5.6514033570129555e-09, 3.3639305648136754e-11, 1.5017547444991965e-13, 5.214425047604376e-16,
        1.448454809726823e-18, 3.2918681508161073e-21, 6.2358156708995765e-24, 9.978466747976326e-27,
        1.3840892603617044e-29, 1.558874144968527e-32, 2.0413816809366817e-35, 5.5813823172212646e-39,
        2.960825556946409e-41,
    ),
    4: (
        0.5, 0.062500045, 0.0026041234, 5.4266624e-05, 6.7636904e-07, 5.777531e-09, 2.8976505e-11, 2.346179e-13,
    ),
}
# I0(x)**2 (I1 / I0)'(x), the same way: relative error 1.6e-17 and 1.2e-08
SLOPE: dict[int, tuple[float, ...]] = {
    8: (
        0.5, 0.062499999999999986, 0.005208333333333376, 0.00027126736111106564, 9.49435763891272e-06,
        2.3735894096488024e-07, 4.440388352986472e-09, 6.442527721984302e-11, 7.456629531552591e-13,
        7.042370665134109e-15, 5.5291435046686515e-17, 3.6651098668049216e-19, 2.0784880199639007e-21,
        1.0192598257461723e-23, 4.3772919642064436e-26, 1.6367237577991073e-28, 5.719349731512464e-31,
        1.4431491794566084e-33, 6.39574618900926e-36, -2.923128544556619e-39, 1.0010256226488033e-40,
        -2.6749198118336957e-43, 1.0302671348768146e-45, -1.6874741582615794e-48, 2.1583320972031733e-51,
    ),
    4: (
        0.5, 0.062499963, 0.0052084024, 0.00027122456, 9.507034e-06, 2.3527255e-07, 4.6461235e-09, 5.186619e-11,
        1.2193031e-12, -3.485465e-15, 1.7461579e-16,
    ),
}
# sqrt(x) exp(-x) I0(x) in 1 - 2 NEAR / x on x >= NEAR: relative error 6.3e-17 and 1.2e-08
I0_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.4021765094450081, -0.003360551983667861, 0.00013621607438837085, -1.1143033790983495e-05,
        1.4838477034271236e-06, -2.9735985757819853e-07, 8.871988524459402e-08, -3.9325857848912283e-08,
        2.1569301828012964e-08, -7.554601173855892e-09, -6.861733598530719e-09, 1.3408573335532285e-08,
        -5.005760584954624e-09, -7.551750167865084e-09, 6.504813259811113e-09, 3.5046556849751613e-09,
        -4.513858102521698e-09, -1.5187485739077751e-09, 2.1536946092535356e-09, 5.70742074175148e-10,
        -6.460886273854413e-10, -1.5249257592747722e-10, 9.065935699487534e-11, 2.0215068935935384e-11,
    ),
    4: (
        0.40331227, -0.004607096, 0.00026389147, -3.2014083e-05, 7.2342386e-06, -2.9122662e-06, 8.162221e-07,
        3.261091e-07, -2.3132365e-07,
    ),
}
# sqrt(x) exp(-x) I1(x), the same way: relative error 3.0e-17 and 5.8e-09
I1_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.38939845902587233, 0.009749577193235742, -0.00021923576383290903, 1.5038547200048196e-05,
        -1.834910204990178e-06, 3.4838558952949173e-07, -1.0001132869683048e-07, 4.312901608625144e-08,
        -2.3390014799942773e-08, 8.428844340193633e-09, 6.8299683484903396e-09, -1.4038650856862733e-08,
        5.620059054803492e-09, 7.65399727551882e-09, -7.0297447498202285e-09, -3.446245633430434e-09,
        4.862074129839826e-09, 1.4612337314476742e-09, -2.333248428342431e-09, -5.4546259042302e-10,
        7.06254825257619e-10, 1.465193107389625e-10, -1.0006208783182062e-10, -1.9636345329196393e-11,
    ),
    4: (
        0.38612366, 0.013201398, -0.00041890136, 4.2504013e-05, -8.547826e-06, 3.3246738e-06, -1.169542e-06,
        -3.3087338e-07, 3.4664322e-07,
    ),
}
# x**2 (I1 / I0)'(x), the same way from SLOPE_NEAR on: relative error 5.3e-17 and 5.0e-08
SLOPE_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.5111312770489315, -0.011917616996318273, 0.0008675495550647434, -9.227167247737894e-05,
        1.29707960429752e-05, -2.3182215401613122e-06, 5.180408723200539e-07, -1.4433484892552212e-07,
        5.076945583189667e-08, -2.3053524005030975e-08, 1.3564057585652724e-08, -9.502774725492656e-09,
        4.771572154175168e-09, 3.176057962186197e-09, -8.274324971007301e-09, 3.776034597926015e-09,
        3.3864967355600363e-09, -3.2162250393301086e-09, -5.668820615990995e-10, 1.1402424005953903e-09,
        -3.93294959952861e-11, -1.7019327736428846e-10, 2.3609529566667865e-11,
    ),
    4: (
        0.5240248, -0.027995821, 0.005034759, -0.001510319, 0.0007406753, -0.0004496569, 5.289036e-05, 0.0002794677,
        -0.00017132731, -5.856754e-05, 4.931281e-05, 3.8123162e-06,
    ),
}
# x (I0(x) / I1(x) - 1) in 2 x / NEAR - 1 on 0 <= x <= NEAR: relative error 4.9e-17 and 1.8e-08.  It falls
# from 2 to 1/2, and gives both I1 / I0 = x / (x + it) and what that lacks of 1.
EXCESS: dict[int, tuple[float, ...]] = {
    8: (
        0.6321890694374384, -0.1927974361408053, 0.26791918048683216, -0.3256319869809535, 0.32559116669471455,
        -0.2519737672515659, 0.1309341038596267, -0.014089934863198443, -0.056117266210333555, 0.06929011102171174,
        -0.04427578185938737, 0.009902988058747678, 0.013145772648861765, -0.019039506699245486, 0.012988646122831576,
        -0.0035656895122616675, -0.003064865775117657, 0.005029840867367608, -0.003681355627006647,
        0.0012936469153802669, 0.000688299957607207, -0.001585744430188615, 0.0010245130125714874,
        0.00011923619028208683, -0.00018330129774039207, -0.0003830521437893683, -0.00014589944649539158,
        0.0009014679644917977, -0.00020731122807744444, -0.0006921996763381031, 0.0003280683564629292,
        0.0002704741929752547, -0.0001761360445734127, -5.5621432403890114e-05, 4.559067586969675e-05,
        4.815342275966426e-06, -4.852341602361516e-06,
    ),
    4: (
        0.70377094, -0.31037736, 0.38306642, -0.35721278, 0.23564367, -0.08846094, -0.012016686, 0.04386433,
        -0.031197174, 0.007105752, 0.008211747, -0.008507025, 0.0014391432, 0.0017662687, -0.00073983474,
    ),
}
# the same in 1 - 2 NEAR / x on x >= NEAR: relative error 4.8e-17 and 4.7e-08
EXCESS_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.5250375340920083, -0.026790434965664914, 0.0019267454416406517, -0.000198999721876202, 3.054191428644904e-05,
        -7.114214072719689e-06, 2.5588059263907673e-06, -1.336914986414193e-06, 7.156769145753754e-07,
        -4.4596923849597635e-08, -5.686497253822564e-07, 6.044840515662466e-07, 5.7937258358811905e-08,
        -5.707677411038582e-07, 1.5960706098069788e-07, 4.605413855152457e-07, -1.9826798322496735e-07,
        -3.6345050887314605e-07, 1.5840921973671932e-07, 2.607987197102115e-07, -9.400676344078024e-08,
        -1.5155750770484182e-07, 3.970439025249404e-08, 6.363217922034328e-08, -1.0558497507190899e-08,
        -1.6735583346958537e-08, 1.316746078357901e-09, 2.046046944779402e-09,
    ),
    4: (
        0.5341895, -0.037528455, 0.003821017, -0.0005923166, 0.00015678965, -7.2432136e-05, 2.2300352e-05,
        1.49776015e-05, -1.141554e-05,
    ),
}


def _near(a: Node) -> Node:
    return a < NEAR[width(a)]


def _inner(a: Node, table: dict[int, tuple[float, ...]]) -> Node:
    return polynomial(a * a, table[width(a)])


def _regained(a: Node) -> Node:
    """What the rounding of a**2 takes from I0 and I1, as a factor: by it their logarithms grow by nearly 1 / (2 a)."""
    a_head = head(a)
    rest = (a_head * a_head - a * a) + (a - a_head) * (a + a_head)
    return 1.0 + rest * (0.5 / at_least(a, 1.0))


def _outer(a: Node, table: dict[int, tuple[float, ...]], limits: dict[int, float] = NEAR) -> Node:
    return polynomial(1.0 - (2.0 * limits[width(a)]) * (1.0 / a), table[width(a)])


def _i0(a: Node) -> Node:
    """I0 near 0."""
    return 1.0 + a * a * _inner(a, I0)


def _i0e(x: Node) -> Node:
    a = abs(x)
    return where(_near(a), exp(-a) * _i0(a) * _regained(a), _outer(a, I0_FAR) * sqrt(1.0 / a))


def _i1e(x: Node) -> Node:
    a = abs(x)
    near = exp(-a) * (a * _inner(a, I1)) * _regained(a)
    return with_sign(where(_near(a), near, _outer(a, I1_FAR) * sqrt(1.0 / a)), x)


def _grown(y: Node, x: Node) -> Node:
    """exp(|x|) y, whose exponential may overflow before it."""
    half = exp(0.5 * abs(x))
    return where(eq(abs(x), INFINITY), x * x * x, (y * half) * half)


def _log_i0_parts(a: Node) -> tuple[Node, Node]:
    """Whether ``a`` is near 0, and log(I0), less ``a`` where it is not."""
    near = _near(a)
    small = a * a * _inner(a, I0)
    return near, log_of_sum(where(near, 1.0, _outer(a, I0_FAR) * sqrt(1.0 / a)), where(near, small, 0.0))


def _log_i0e(x: Node) -> Node:
    a = abs(x)
    near, y = _log_i0_parts(a)
    return where(eq(a, INFINITY), const(-INFINITY, x.dtype), y - where(near, a, 0.0))


def _log_i0(x: Node) -> Node:
    a = abs(x)
    near, y = _log_i0_parts(a)
    return where(eq(a, INFINITY), a, y + where(near, 0.0, a))


def _shares(a: Node) -> tuple[Node, Node]:
    """I1 / I0, which is a / (a + e), and e / (a + e), which it lacks of 1: neither is a difference near its zero."""
    near = _near(a)
    inner = polynomial((2.0 / NEAR[width(a)]) * a - 1.0, EXCESS[width(a)])
    excess = where(near, inner, _outer(a, EXCESS_FAR))
    inverse = 1.0 / (a + excess)
    gap = excess * inverse
    return where(near, a * inverse, 1.0 - gap), gap


def _bessel_ratio(x: Node) -> Node:
    return with_sign(_shares(abs(x))[0], x)


def _bessel_ratio_slope(x: Node) -> Node:
    a = abs(x)
    i0 = _i0(a)
    near = a < SLOPE_NEAR[width(a)]
    return where(near, _inner(a, SLOPE) / (i0 * i0), _outer(a, SLOPE_FAR, SLOPE_NEAR) / a / a)


def _ratio_curvature(x: Node, out: Node) -> tuple[Node]:
    """The second derivative of A = I1 / I0, from A' = 1 - A**2 - A / x."""
    ratio = bessel_ratio(x)
    return (where(eq(x, 0), 0.0, (ratio / x - out) / x - 2.0 * ratio * out),)


def _less_quotient(first: Node, y: Node, x: Node) -> Node:
    """first - y / x, 1/2 at 0: the derivative of I1 or of what is made of it, DLMF 10.29.2."""
    return where(eq(x, 0), 0.5, first - y / x)


i0e: Primitive = primitive(
    "i0e", expand=_i0e, partials=lambda x, out: (where(x < 0, out, -out) * bessel_ratio_gap(x),),
    floating=True, ufuncs=("i0e",), domain=((0.1, 60.0),), oracle="scipy.special.i0e",
)
i1e: Primitive = primitive(
    "i1e", expand=_i1e, partials=lambda x, out: (_less_quotient(i0e(x) * bessel_ratio_gap(x), out, x),),
    floating=True, ufuncs=("i1e",), domain=((0.1, 60.0),), oracle="scipy.special.i1e",
)
i0: Primitive = primitive(
    "i0", expand=lambda x: _grown(_i0e(x), abs(x)), partials=lambda x, out: (i1(x),),
    floating=True, ufuncs=("i0",), domain=((-5.0, 5.0),), oracle="scipy.special.i0",
)
i1: Primitive = primitive(
    "i1", expand=lambda x: _grown(_i1e(x), x), partials=lambda x, out: (_less_quotient(i0(x), out, x),),
    floating=True, ufuncs=("i1",), domain=((0.1, 5.0),), oracle="scipy.special.i1",
)
log_i0e: Primitive = primitive(  # log(I0(x)) - |x|
    "log_i0e", expand=_log_i0e, partials=lambda x, out: (where(x < 0, 1.0, -1.0) * bessel_ratio_gap(x),),
    floating=True, domain=((0.1, 60.0),),
)
log_i0: Primitive = primitive(
    "log_i0", expand=_log_i0, partials=lambda x, out: (bessel_ratio(x),), floating=True, domain=((0.1, 60.0),),
)
bessel_ratio: Primitive = primitive(  # I1(x) / I0(x): the mean resultant length of a von Mises distribution
    "bessel_ratio", expand=_bessel_ratio, partials=lambda x, out: (bessel_ratio_slope(x),),
    floating=True, domain=((0.1, 60.0),),
)
bessel_ratio_gap: Primitive = primitive(  # 1 - I1(|x|) / I0(|x|)
    "bessel_ratio_gap", expand=lambda x: _shares(abs(x))[1],
    partials=lambda x, out: (where(x < 0, 1.0, -1.0) * bessel_ratio_slope(x),), floating=True, domain=((0.1, 60.0),),
)
bessel_ratio_slope: Primitive = primitive(
    "bessel_ratio_slope", expand=_bessel_ratio_slope, partials=_ratio_curvature, floating=True, domain=((0.1, 60.0),),
)
