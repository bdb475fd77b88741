"""What users get wrong: a type checker says so where the line does, by the rule that the line names."""

# pyright: standard
# ruff: noqa: E402, F401

import numpy as np

import vecdist
import vecdist.interop
from vecdist import Vectorize, compile, lazy, logpdf, mixture, truncated, value_and_grad  # noqa: A004
from vecdist.distributions import Gamma, MvNormal, Normal, Poisson, StudentT
from vecdist.parameters import positive
from vecdist.samplers import hmc

a = np.array([0.5, 2.0])
density = vecdist.LogDensity(lambda tau: -tau, tau=positive())
Gamma(shap=1.0)  # error: reportCallIssue
Gamma(2.0, rate=3.0)  # error: reportCallIssue
Gamma(2.0)  # error: reportCallIssue
Gamma(2.0, 1.0, 3.0)  # error: reportCallIssue
Gamma(shape=1.0, scale=2.0, rate=0.5)  # error: reportCallIssue
Gamma(mean=1.0, rate=0.5)  # error: reportCallIssue
StudentT(3.0, precision=2.0)  # error: reportCallIssue
Poisson()  # error: reportCallIssue
MvNormal(np.zeros(2), covarianze=np.eye(2))  # error: reportCallIssue
logpdf(Gamma(2.0, None), a)  # error: reportArgumentType
logpdf(a, Gamma(2.0, 1.0))  # error: reportArgumentType
logpdf(Gamma, a)  # error: reportArgumentType
logpdf(Gamma(2.0, 1.0))  # error: reportCallIssue
Vectorize(a, Gamma)  # error: reportArgumentType
vecdist.logpfd(Gamma(2.0, 1.0), a)  # error: reportAttributeAccessIssue
vecdist.distributions.Gama(2.0, 1.0)  # error: reportAttributeAccessIssue
vecdist.random.gaussian(7)  # error: reportAttributeAccessIssue
adapter = vecdist.interop.jaxx  # error: reportAttributeAccessIssue
truncated(Normal, 0.0)  # error: reportArgumentType
truncated(Normal(0.0, 1.0), low=0.0)  # error: reportCallIssue
mixture([0.5, 0.5], [Normal(0.0, 1.0), Normal(1.0, 1.0)])  # error: reportArgumentType
value_and_grad(2.0, wrt=a)  # error: reportArgumentType
value_and_grad(lazy(a).sum())  # error: reportCallIssue
lazy(a).summ()  # error: reportAttributeAccessIssue
total = lazy(a) + Gamma(2.0, 1.0)  # error: reportOperatorIssue
compile(lambda x: x, error="raise")  # error: reportCallIssue
compile(lambda x: x, errors="warn")  # error: reportArgumentType
density.logdensty(np.zeros(1))  # error: reportAttributeAccessIssue
density.pack(np.zeros(1))  # error: reportArgumentType
vecdist.LogDensity(lambda tau: -tau, tau=1.0)  # error: reportArgumentType
hmc(density, chain=2)  # error: reportCallIssue
hmc(2.0, initial=a)  # error: reportArgumentType
from vecdist.distributions import Gama  # error: reportAttributeAccessIssue
