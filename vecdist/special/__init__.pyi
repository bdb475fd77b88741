"""Special functions, of nodes in formulas and of arrays; a module enters its own in the table of primitives."""

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.

from vecdist.special.bessel import i0 as i0, i0e as i0e, i1 as i1, i1e as i1e
from vecdist.special.bessel_k import k0 as k0, k0e as k0e, k1 as k1, k1e as k1e
from vecdist.special.bessel_orders import ive as ive, kve as kve
from vecdist.special.error_functions import erf as erf, erfc as erfc, xlog1py as xlog1py, xlogy as xlogy
from vecdist.special.gamma_differences import lbeta as lbeta, log_choose as log_choose
from vecdist.special.gamma_functions import digamma as digamma, lgamma as lgamma, tetragamma as tetragamma, trigamma as trigamma
from vecdist.special.incomplete_beta import betainc as betainc, betaincc as betaincc, betainccinv as betainccinv, betaincinv as betaincinv
from vecdist.special.incomplete_gamma import gammainc as gammainc, gammaincc as gammaincc, gammainccinv as gammainccinv, gammaincinv as gammaincinv
from vecdist.special.normal_tail import erfcinv as erfcinv, erfcx as erfcx, erfinv as erfinv, log_ndtr as log_ndtr, ndtr as ndtr, ndtri as ndtri, ndtri_exp as ndtri_exp


__all__ = [
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "ive",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kve",
    "lbeta",
    "lgamma",
    "log_choose",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "tetragamma",
    "trigamma",
    "xlog1py",
    "xlogy",
]
