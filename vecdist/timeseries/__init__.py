"""Log densities of series: of each element, given all before it."""

from vecdist.timeseries.autoregressive import ar, arma, ma, random_walk
from vecdist.timeseries.hidden_markov import hmm, hmm_filtered, hmm_smoothed
from vecdist.timeseries.volatility import garch

__all__ = ["ar", "arma", "garch", "hmm", "hmm_filtered", "hmm_smoothed", "ma", "random_walk"]
