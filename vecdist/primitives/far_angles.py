"""Sines and cosines of far angles: reduced by multiples of pi/2 with as many digits of it as the angle needs.

After Payne and Hanek (1983), Radian reduction for trigonometric functions: of the products of the angle with the digits
of 2/pi those that are whole turns are left out, and the others are exact.  As no float comes nearer to a multiple of
pi/2 than 2**-61, 150 binary digits behind the point are enough (Kahan 1983, Minimizing q*m - n).
"""

from __future__ import annotations

from math import floor, inf, nan

from vecdist.primitives.scalar import exact_product, exact_sum, half, horner

# 2/pi in pieces of 26 binary digits
TWO_OVER_PI = (
    42722829.0, 48555073.0, 21659401.0, 56087029.0, 13858563.0, 28715353.0, 38736100.0, 4324945.0, 26128250.0,
    62674459.0, 29957006.0, 37899730.0, 58726692.0, 49193117.0, 6588223.0, 35515164.0, 46442140.0, 65964067.0,
    24988590.0, 54822121.0, 41009306.0, 54917092.0, 5137525.0, 37323603.0, 15192690.0, 4585659.0, 58608142.0,
    52426903.0, 67074070.0, 25231090.0, 63202006.0, 34237727.0, 28629499.0, 15891632.0, 40752081.0, 37709470.0,
    25143477.0, 55737260.0, 33225084.0, 24853767.0, 15195689.0, 19476134.0, 50255852.0, 18845021.0, 2185228.0,
    50622407.0,
)
STEP = 2.0**-26
WHOLE = 2.0**81  # floats from here on, times a piece, are multiples of four
PIECES = 8
ROUNDING = (1.5 * 2.0**108, 1.5 * 2.0**80, 1.5 * 2.0**54)  # added and taken away: to multiples of 2**56, 2**28, 4
NEAREST = 1.5 * 2.0**52
QUARTER, QUARTER_REST = 1.5707963267948966, 6.123233995736766e-17
# (sin(r) - r) / r**3 and (cos(r) - 1) / r**2 in r**2, |r| <= pi/4, the highest coefficient first
SINE = (
    1.5895433245141986e-10, -2.5050734388676223e-08, 2.755731353851177e-06, -0.00019841269829358525,
    0.00833333333332184, -0.1666666666666663,
)
COSINE = (
    -1.1358683261534968e-11, 2.087570426994716e-09, -2.75573142100699e-07, 2.480158728898367e-05,
    -0.0013888888888873325, 0.041666666666666595, -0.5,
)


def modulo_four(x: float) -> float:
    """Between -2 and 2, exactly, for x below 2**107."""
    left = x
    for magic in ROUNDING:
        left = left - ((left + magic) - magic)
    return left


def quarters(x: float) -> tuple[float, float, float]:
    """abs(x) over pi/2: its whole number modulo 4, and what is left, in two parts; 0 of what is not finite."""
    y = abs(x) if abs(x) < inf else 0.0
    first = 0
    while y >= WHOLE:
        y = y * STEP
        first = first + 1
    high, middle, low = 0.0, 0.0, 0.0
    for place in range(PIECES):
        y = y * STEP
        head = half(y)
        high, lost = exact_sum(high, modulo_four(head * TWO_OVER_PI[first + place]))
        middle, lost = exact_sum(middle, lost)
        low = low + lost
        high, lost = exact_sum(high, modulo_four((y - head) * TWO_OVER_PI[first + place]))
        middle, lost = exact_sum(middle, lost)
        low = low + lost
    whole = (high + NEAREST) - NEAREST
    left, rest = exact_sum(high - whole, middle)
    left, rest = exact_sum(left, rest + low)
    return whole - 4.0 * floor(0.25 * whole), left, rest


def sine_and_cosine(x: float) -> tuple[float, float]:
    """Both, to the last digits; of what is not finite NaN."""
    turn, left, rest = quarters(x)
    r, lost = exact_product(left, QUARTER)
    lost = lost + (left * QUARTER_REST + rest * QUARTER)
    square = r * r
    sine = r + (r * square * horner(square, SINE) + lost)
    cosine = 1.0 + (square * horner(square, COSINE) - r * lost)
    odd = turn == 1.0 or turn == 3.0
    y = cosine if odd else sine
    y = -y if turn >= 2.0 else y
    z = sine if odd else cosine
    z = -z if turn == 1.0 or turn == 2.0 else z
    y = -y if x < 0.0 else y
    known = abs(x) < inf
    return y if known else nan, z if known else nan


def far_sine(x: float) -> float:
    """sin(x)."""
    sine, _ = sine_and_cosine(x)
    return sine


def far_cosine(x: float) -> float:
    """cos(x)."""
    _, cosine = sine_and_cosine(x)
    return cosine


def far_tangent(x: float) -> float:
    """tan(x): no float has a cosine of 0."""
    sine, cosine = sine_and_cosine(x)
    return sine / cosine
