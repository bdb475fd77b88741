"""Samplers of many chains at once, whose every step is one fused kernel; modes, and how well chains have mixed."""

from vecdist.samplers.algorithms import chees, hmc, nuts
from vecdist.samplers.density import Density
from vecdist.samplers.diagnostics import ess, rhat
from vecdist.samplers.draws import Draws, StochasticDraws
from vecdist.samplers.modes import Laplace, Mode, find_map, laplace
from vecdist.samplers.stochastic import polynomial, sghmc, sgld

__all__ = [
    "Density", "Draws", "Laplace", "Mode", "StochasticDraws", "chees", "ess", "find_map", "hmc", "laplace",
    "nuts", "polynomial", "rhat", "sghmc", "sgld",
]
