"""What a family is: parametrisations with constraints, a support and a formula."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, final

from vecdist.constraints import Constraint
from vecdist.distributions.signature import joined
from vecdist.graph.memo import cached_property
from vecdist.graph.node import Node

Parameters = SimpleNamespace
Allowed = Any  # a constraint; in families of vectors and matrices a domain, of which a parameter has the last axes


def mirrored(p: Parameters) -> Parameters:
    """The parameters of -x, for what depends on x - ``p.loc`` alone."""
    return Parameters(**vars(p) | {"loc": -p.loc})


@final
@dataclass(frozen=True)
class Parametrisation:
    """One way to write the parameters of a family: a constraint for each, and what the formulas need of them.

    ``convert`` takes the parameters as nodes and gives the quantities that the formulas use, by name.
    """

    constraints: Mapping[str, Allowed]
    convert: Callable[..., dict[str, Any]]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.constraints)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        given = inspect.signature(self.convert).parameters.values()
        return {p.name: p.default for p in given if p.default is not p.empty}

    @property
    def parameters(self) -> dict[str, Any]:
        """The default of each parameter, ``inspect.Parameter.empty`` where it has none."""
        return {name: self.defaults.get(name, inspect.Parameter.empty) for name in self.names}

    def __str__(self) -> str:
        return ", ".join(f"{n}={self.defaults[n]}" if n in self.defaults else n for n in self.names)


def parametrisation(**constraints: Allowed) -> Callable[[Callable[..., dict[str, Any]]], Parametrisation]:
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

    def sample(self, key: Any, shape: Any) -> Any:
        """Independent draws, a lazy array whose first axes are ``shape``."""
        raise NotImplementedError(f"sample of {type(self).__name__} is not there; logpdf is")


LIGHT = 1e4  # a distance from which on exp(-distance) is 0 in every float, and so are tails that fall like it


class _Signature:
    """What ``inspect`` asks a class for: of a family the ways of writing it, of other classes nothing."""

    def __get__(self, instance: object, family: type[Parametrised]) -> inspect.Signature | None:
        ways = [way.parameters for way in family.parametrisations]
        return joined(ways) if ways and family.__init__ is Parametrised.__init__ else None


class Parametrised:
    """A family that is written in one of several ways: an instance has chosen one, and holds its parameters."""

    __signature__: ClassVar[_Signature] = _Signature()
    parametrisations: ClassVar[tuple[Parametrisation, ...]] = ()

    parametrised: Parametrisation
    parameters: dict[str, Any]

    def __init_subclass__(cls) -> None:
        own = tuple(v for v in vars(cls).values() if isinstance(v, Parametrisation))
        cls.parametrisations = own or cls.parametrisations

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
        first, what = cls.parametrisations[0], f"{cls.__name__} was given ({', '.join(given) or 'nothing'})"
        for candidate in cls.parametrisations:
            needed = set(candidate.names) - set(candidate.defaults)
            if needed <= set(given) <= set(candidate.names):
                if positional and candidate is not first:
                    named = ", ".join(f"{name}=..." for name in given)
                    raise TypeError(
                        f"{what}, some by position, which are those of {cls.__name__}({first}) alone; "
                        f"name all of them: {cls.__name__}({named})"
                    )
                return candidate
        ways = "; ".join(f"{cls.__name__}({way})" for way in cls.parametrisations)
        raise TypeError(f"{what}; it takes one of: {ways}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.parameters)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_brief(value)}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({inside})"


class Distribution(Parametrised, ABC):
    """Base of all families: an instance is a family with parameters, which are arrays and broadcast.

    A subclass declares parametrisations, a support and ``log_density``, and that is a family; one of this package has
    a file here, and a command writes the line that says where it is.
    Beside these it may state the formulas of the verbs in ``vecdist.verbs``: inside the support ``cdf(x, p)``,
    ``sf(x, p)``, ``log_cdf(x, p)`` and ``log_sf(x, p)``, the logarithms where the others underflow; for 0 < q < 1
    ``quantile(q, p)``, and ``upper_quantile(q, p)`` for ``isf``, where 1 - q has few digits; ``draw(random, p)`` of the
    random numbers of a ``Stream``; and ``mean(p)``, ``variance(p)``, ``entropy(p)``, ``mode(p)`` and ``median(p)``; and
    ``end_densities(p)``, of both ends of the support, where those of ``log_density`` have few digits.  Tails that
    are functions of a distance ``standardised(x, p)``, which or whose derivatives may overflow, are 0 and 1 as
    floating-point numbers where it is more than ``certain``.  A ``symmetric`` family depends on x - ``p.loc`` alone
    and falls off on both sides alike; a ``mixed`` one has mass at single points beside its density.  Raises
    ``TypeError`` for parameters that no parametrisation has.
    """

    oracle: ClassVar[str] = ""
    discrete: ClassVar[bool] = False
    mixed: ClassVar[bool] = False
    symmetric: ClassVar[bool] = False
    certain: ClassVar[float | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith(f"{__package__}."):  # a user's own may have any name, theirs too
            FAMILIES[cls.__name__] = cls

    @staticmethod
    @abstractmethod
    def support(p: Parameters) -> Constraint:
        """Where the density is not zero."""

    @classmethod
    def reach(cls, p: Parameters) -> Constraint:
        """Where the distribution function rises from 0 to 1: the support, or of an angle one turn."""
        return cls.support(p)

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        """The distance that the tails are functions of, in units of the scale."""
        return x

    @staticmethod
    @abstractmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """The logarithm of the density (or mass) inside the support, with its limits at the edges."""


def _made(family: type[Distribution], parameters: Mapping[str, Any]) -> Distribution:
    """A family with parameters by name, as one that was pickled had them."""
    return family(**parameters)


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", ())
    return f"{value.dtype}{list(shape)}" if shape else f"{value}"
