"""Special functions, of nodes in formulas and of arrays: importing this package enters them in the table of primitives.

>>> import numpy as np, vecdist
>>> np.asarray(log_ndtr(vecdist.lazy(np.array([-4.0, 0.0])))).round(4)
array([-10.3601,  -0.6931])
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

from vecdist.special.bessel import i0, i0e, i1, i1e  # noqa: E402
from vecdist.special.bessel_k import k0, k0e, k1, k1e  # noqa: E402
from vecdist.special.bessel_orders import ive, kve  # noqa: E402
from vecdist.special.error_functions import erf, erfc, xlog1py, xlogy  # noqa: E402
from vecdist.special.gamma_differences import lbeta, log_choose  # noqa: E402
from vecdist.special.gamma_functions import digamma, lgamma, tetragamma, trigamma  # noqa: E402
from vecdist.special.incomplete_beta import betainc, betaincc, betainccinv, betaincinv  # noqa: E402
from vecdist.special.incomplete_gamma import gammainc, gammaincc, gammainccinv, gammaincinv  # noqa: E402
from vecdist.special.normal_tail import erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp  # noqa: E402

__all__ = [
    "betainc", "betaincc", "betainccinv", "betaincinv", "digamma", "erf", "erfc", "erfcinv", "erfcx", "erfinv",
    "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "i0", "i0e", "i1", "i1e", "ive", "k0", "k0e", "k1", "k1e",
    "kve", "lbeta", "lgamma", "log_choose", "log_ndtr", "ndtr", "ndtri", "ndtri_exp", "tetragamma", "trigamma",
    "xlog1py", "xlogy",
]
