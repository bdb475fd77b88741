"""PyMC: a log density as an operation of PyTensor, and as a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.model.logdensity import LogDensity

op: Any = client("pytensor.graph")
tensor: Any = client("pytensor.tensor")


def function(density: LogDensity) -> Callable[[Any], Any]:
    """The log density as a function of PyTensor's vectors, with its gradient: one kernel call for both.

    There are no second derivatives.  ``TypeError`` for another dtype or number of axes, when the graph is built.

    >>> import pytensor, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> x = pytensor.tensor.dvector("x")
    >>> value = vecdist.interop.pymc.function(density)(x)
    >>> float(value.eval({x: [3.0]})), pytensor.grad(value, x).eval({x: [3.0]})
    (-4.5, array([-3.]))
    """
    return lambda x: _Evaluate(density)(x)[0]


def model(density: LogDensity) -> Any:
    """A model of PyMC whose one variable ``x`` is the flat vector; ``density.unpack`` makes parameters of its draws."""
    pymc = client("pymc")
    with pymc.Model() as built:
        x = pymc.Flat("x", shape=density.ndim, initval=density.initial_point(0))
        pymc.Potential("log_density", function(density)(x))
    return built


class _Evaluate(op.Op):
    __props__ = ("density",)

    def __init__(self, density: LogDensity) -> None:
        self.density = density

    def make_node(self, x: Any) -> Any:
        x = tensor.as_tensor_variable(x)
        if x.ndim != 1 or x.dtype != self.density.dtype:
            raise TypeError(f"a log density of {self.density.dtype} vectors, given {x.dtype} with {x.ndim} axes")
        return op.Apply(self, [x], [tensor.scalar(dtype=x.dtype), x.type()])

    def perform(self, node: Any, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        value, gradient = self.density.logdensity_and_gradient(inputs[0])
        outputs[0][0], outputs[1][0] = np.asarray(value, self.density.dtype), gradient

    def pullback(self, inputs: Any, outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return [cotangents[0] * outputs[1]]

    L_op = pullback
