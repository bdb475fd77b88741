"""Families made from others: how a wrapper is written, and how it becomes a family like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from vecdist.constraints import Bound, Constraint
from vecdist.distributions.base import Distribution, Parameters, Parametrisation
from vecdist.graph.leaves import number
from vecdist.graph.node import Node
from vecdist.verbs.inner import Inner


class Wrapper:
    """Base of all wrappers: formulas of a family, by those of another, which are ``cls.base``.

    A subclass states what a family states, as class methods, whose ``p`` has the quantities of the other family in
    ``p.base``, the parameters of the wrapper by their names, what ``quantities`` makes of them, and ``p.zero``.  The
    families that come of it are in no catalogue.
    """

    name: ClassVar[str]
    base: ClassVar[Inner]
    settings: ClassVar[Mapping[str, Any]]
    own: ClassVar[tuple[str, ...]]
    adds_mass: ClassVar[bool] = False

    made_of: tuple[Distribution, dict[str, Any], dict[str, Any]]

    def __repr__(self) -> str:
        inner, own, settings = self.made_of
        others = [f"{name}={brief(value)}" for name, value in (own | settings).items()]
        return f"{self.name}({', '.join([repr(inner), *others])})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Its family is made again, for it is in no module; the wrapper is."""
        wrapper = next(cls for cls in type(self).__mro__[1:] if issubclass(cls, Wrapper))
        return derive, (wrapper, *self.made_of)

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        """Where the parameters of the wrapper may lie; a bound may be a function of ``p``."""
        return {}

    @classmethod
    def quantities(cls, p: Parameters) -> Mapping[str, Node]:  # noqa: ARG003 (subclasses use it)
        """What else the formulas use."""
        return {}


def derive(
    wrapper: type[Wrapper], distribution: Any, own: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> Any:
    """A distribution of the family that ``wrapper`` makes of another, with parameters of its ``own``.

    ``settings`` are no arrays: they are what makes one family different from another.
    """
    if not isinstance(distribution, Distribution):
        given = distribution if isinstance(distribution, type) else type(distribution)
        raise TypeError(f"{wrapper.name} wants a distribution of a family, given {given.__name__}")
    if distribution.mixed:
        raise TypeError(
            f"{wrapper.name} wants a distribution that has no mass at single points beside its density, given "
            f"{type(distribution).__name__}"
        )
    place = [way is distribution.parametrised for way in distribution.parametrisations].index(True)
    family = _family(wrapper, type(distribution), place, tuple(own), tuple((settings or {}).items()))
    outer = zip(_free(tuple(own), distribution.parametrised), own.values(), strict=True)
    made = family(**distribution.parameters, **dict(outer))
    made.made_of = distribution, dict(own), dict(settings or {})
    return made


def family_of(wrapper: type[Wrapper], inner: type[Distribution], own: tuple[str, ...]) -> Any:
    """The family that ``wrapper`` makes of another, for its formulas; of quantities, however these were written."""
    return _family(wrapper, inner, 0, own, ())


@lru_cache(maxsize=512)
def _family(
    wrapper: type[Wrapper], inner: type[Distribution], place: int, own: tuple[str, ...], settings: tuple[Any, ...]
) -> Any:
    name, way = f"{wrapper.name}({inner.__name__})", inner.parametrisations[place]
    members = {"base": Inner(inner, name), "own": own, "settings": dict(settings), "discrete": inner.discrete}
    members["mixed"] = wrapper.adds_mass and not inner.discrete
    members["__doc__"] = f"{inner.__name__}, {wrapper.name}."
    made: Any = type(name, (wrapper, Distribution), members)
    made.parametrisations = (_extended(way, made),)
    return made


def brief(value: Any) -> str:
    """An array by its dtype and shape, anything else as it is."""
    return f"{value.dtype}{list(value.shape)}" if getattr(value, "shape", ()) else f"{value}"


def _free(own: tuple[str, ...], way: Parametrisation) -> tuple[str, ...]:
    """Names for the parameters of a wrapper, beside those that there are."""
    found = []
    for name in own:
        while name in way.names:
            name = f"outer_{name}"  # noqa: PLW2901
        found.append(name)
    return tuple(found)


def _extended(way: Parametrisation, wrapper: type[Wrapper]) -> Parametrisation:
    """A parametrisation with the parameters of a wrapper behind its own."""
    free = dict(zip(wrapper.own, _free(wrapper.own, way), strict=True))

    def parameters(given: Mapping[str, Node]) -> Parameters:
        inner = Parameters(**way.convert(**{name: given[name] for name in way.names}), whole=False)
        zero = number(0.0, next(iter(given.values())).dtype)
        return Parameters(base=inner, zero=zero, **{name: given[free[name]] for name in wrapper.own})

    def convert(**given: Node) -> dict[str, Any]:
        p = parameters(given)
        return vars(p) | dict(wrapper.quantities(p))

    def among(bound: Bound) -> Bound:
        return (lambda given: bound(parameters(vars(given)))) if callable(bound) else bound

    allowed = wrapper.constraints()
    outer = {free[n]: replace(allowed[n], lower=among(allowed[n].lower), upper=among(allowed[n].upper)) for n in free}
    return Parametrisation({**way.constraints, **outer}, convert)
