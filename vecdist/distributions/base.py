"""What a family is: parametrisations with constraints, a support and a formula."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, final

from vecdist.constraints import Constraint
from vecdist.expr import Node

Parameters = SimpleNamespace


@final
@dataclass(frozen=True)
class Parametrisation:
    """One way to write the parameters of a family: a constraint for each, and what the formulas need of them.

    ``convert`` takes the parameters as nodes and gives the quantities that the formulas use, by name.
    """

    constraints: Mapping[str, Constraint]
    convert: Callable[..., dict[str, Node]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.constraints)

    @property
    def defaults(self) -> dict[str, Any]:
        given = inspect.signature(self.convert).parameters.values()
        return {p.name: p.default for p in given if p.default is not p.empty}

    def __str__(self) -> str:
        return ", ".join(f"{n}={self.defaults[n]}" if n in self.defaults else n for n in self.names)


def parametrisation(**constraints: Constraint) -> Callable[[Callable[..., dict[str, Node]]], Parametrisation]:
    """Make a function from parameters to the quantities of the formulas a parametrisation.

    The first of a family is the one whose order positional arguments follow; the others are by keyword alone.
    Defaults of the function are defaults of the parameters.
    """
    return lambda convert: Parametrisation(constraints, convert)


FAMILIES: dict[str, type[Distribution]] = {}


class Compound(ABC):
    """A distribution made of others, which knows its log density as an expression."""

    @abstractmethod
    def logpdf(self, x: Any) -> Any:
        """The log density at ``x``, a lazy array."""


class Distribution(ABC):
    """Base of all families: an instance is a family with parameters, which are arrays and broadcast.

    A subclass declares parametrisations, a support and ``log_density``; nothing else is touched to add a family.
    Raises ``TypeError`` for parameters that no parametrisation has.
    """

    parametrisations: ClassVar[tuple[Parametrisation, ...]] = ()
    oracle: ClassVar[str] = ""
    discrete: ClassVar[bool] = False

    parametrised: Parametrisation
    parameters: dict[str, Any]

    def __init_subclass__(cls) -> None:
        cls.parametrisations = tuple(v for v in vars(cls).values() if isinstance(v, Parametrisation))
        FAMILIES[cls.__name__] = cls

    def __init__(self, *positional: Any, **keywords: Any) -> None:
        first = self.parametrisations[0]
        if len(positional) > len(first.names):
            raise TypeError(
                f"{type(self).__name__} takes at most {len(first.names)} positional parameters ({first}), "
                f"{len(positional)} were given"
            )
        named = dict(zip(first.names, positional, strict=False))
        twice = sorted(set(named) & set(keywords))
        if twice:
            raise TypeError(f"{type(self).__name__}: {twice[0]} is given twice")
        named |= keywords
        self.parametrised = self._choose(named, bool(positional))
        self.parameters = self.parametrised.defaults | named

    @classmethod
    def _choose(cls, given: Mapping[str, Any], positional: bool) -> Parametrisation:
        """The parametrisation with exactly the given names."""
        candidates = cls.parametrisations[:1] if positional else cls.parametrisations
        for candidate in candidates:
            needed = set(candidate.names) - set(candidate.defaults)
            if needed <= set(given) <= set(candidate.names):
                return candidate
        ways = "; ".join(f"{cls.__name__}({way})" for way in cls.parametrisations)
        raise TypeError(
            f"{cls.__name__} was given ({', '.join(given) or 'nothing'}); it takes one of: {ways}"
        )

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_brief(value)}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({inside})"

    @staticmethod
    @abstractmethod
    def support(p: Parameters) -> Constraint:
        """Where the density is not zero."""

    @staticmethod
    @abstractmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """The logarithm of the density (or mass) inside the support, with its limits at the edges."""


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", ())
    return f"{value.dtype}{list(shape)}" if shape else f"{value}"
