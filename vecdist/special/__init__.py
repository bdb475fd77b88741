"""Special functions, of nodes in formulas and of arrays; a module enters its own in the table of primitives.

>>> import numpy as np, vecdist
>>> np.asarray(log_ndtr(vecdist.lazy(np.array([-4.0, 0.0])))).round(4)
array([-10.3601,  -0.6931])
"""

from vecdist.names import found_later

_WHERE = {
    "betainc": "vecdist.special.incomplete_beta",
    "betaincc": "vecdist.special.incomplete_beta",
    "betainccinv": "vecdist.special.incomplete_beta",
    "betaincinv": "vecdist.special.incomplete_beta",
    "digamma": "vecdist.special.gamma_functions",
    "erf": "vecdist.special.error_functions",
    "erfc": "vecdist.special.error_functions",
    "erfcinv": "vecdist.special.normal_tail",
    "erfcx": "vecdist.special.normal_tail",
    "erfinv": "vecdist.special.normal_tail",
    "gammainc": "vecdist.special.incomplete_gamma",
    "gammaincc": "vecdist.special.incomplete_gamma",
    "gammainccinv": "vecdist.special.incomplete_gamma",
    "gammaincinv": "vecdist.special.incomplete_gamma",
    "i0": "vecdist.special.bessel",
    "i0e": "vecdist.special.bessel",
    "i1": "vecdist.special.bessel",
    "i1e": "vecdist.special.bessel",
    "ive": "vecdist.special.bessel_orders",
    "k0": "vecdist.special.bessel_k",
    "k0e": "vecdist.special.bessel_k",
    "k1": "vecdist.special.bessel_k",
    "k1e": "vecdist.special.bessel_k",
    "kve": "vecdist.special.bessel_orders",
    "lbeta": "vecdist.special.gamma_differences",
    "lgamma": "vecdist.special.gamma_functions",
    "log_choose": "vecdist.special.gamma_differences",
    "log_ndtr": "vecdist.special.normal_tail",
    "ndtr": "vecdist.special.normal_tail",
    "ndtri": "vecdist.special.normal_tail",
    "ndtri_exp": "vecdist.special.normal_tail",
    "tetragamma": "vecdist.special.gamma_functions",
    "trigamma": "vecdist.special.gamma_functions",
    "xlog1py": "vecdist.special.error_functions",
    "xlogy": "vecdist.special.error_functions",
}

__getattr__, __dir__, __all__ = found_later(__name__, _WHERE)
