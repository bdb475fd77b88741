"""The order of the passes: from an expression without its arrays to graphs that are ready to be scheduled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from vecdist.graph.memo import cached_property
from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.by_pairs import by_pairs
from vecdist.passes.checks import split_checks
from vecdist.passes.column_reductions import candidates, scattered, tall_sums
from vecdist.passes.definite import definite
from vecdist.passes.derivations import Derivation
from vecdist.passes.expand import expand, expand_but_many, to_elementary
from vecdist.passes.factor import factor
from vecdist.passes.factors import factors
from vecdist.passes.few_rows import Beside, Rows, few_rows, in_turn_behind, reduced_rows
from vecdist.passes.formulas import formulas
from vecdist.passes.guarded_specialisation import guarded_specialisation
from vecdist.passes.hoist import KEPT, Repeated, apart_from, hoistable, kept, narrow
from vecdist.passes.joins import Parted, joined, parted
from vecdist.passes.links import links
from vecdist.passes.loops import merged, with_turns
from vecdist.passes.partial_evaluation import Specialised, partial_evaluation, without_constants
from vecdist.passes.picks import picks
from vecdist.passes.powers import powers
from vecdist.passes.recurrences import in_steps, stored
from vecdist.passes.simplify import simplify
from vecdist.passes.sink_selects import sink_selects
from vecdist.passes.sort_by_key import Sorting, sorted_rows
from vecdist.passes.split_reductions import InSteps, Split, Splittable, splittable
from vecdist.passes.stages import Stages, staged
from vecdist.passes.stored_results import stored_late
from vecdist.passes.ties import ties
from vecdist.passes.verify import verify
from vecdist.primitives.windows import OVERLAPPING

Pass = Callable[[Sequence[Node]], tuple[Node, ...]]


@final
class Chosen(NamedTuple):
    """What depends on lengths: sums that are scattered, values that are kept, and lengths whose loops come first.

    Loops over the lengths in ``then`` follow these; ``joins`` are the places of outputs in pieces, ``parts`` what is
    reduced in two steps.
    """

    sums: tuple[Node, ...] = ()
    values: tuple[Repeated, ...] = ()
    first: tuple[Dim, ...] = ()
    then: tuple[Dim, ...] = ()
    joins: tuple[int, ...] = ()
    parts: tuple[Split, ...] = ()

    @property
    def leading(self) -> tuple[Dim, ...]:
        """The lengths of the outermost loops, in their order."""
        return (*self.first, *self.then)


NOTHING_CHOSEN = Chosen()

ON_VALUES: tuple[Pass, ...] = (
    links,  # before anything is derived: what a function is in parts overflows in derivatives
    in_steps(links),
    factors,  # of matrices, whose own derivatives take more than those of what they are taken for
    picks,  # two indices have two adjoints
    sink_selects,  # between two values of one function, lgamma say, while it is still one: they share a derivative
    in_steps(sink_selects),
)
ON_PRIMITIVES: tuple[Pass, ...] = (
    simplify,  # so that what is derived has no products with 1 and no double signs, which hide common factors
    factor,  # while a sum is still written as products: what is expanded has none
    powers,  # after signs and factors have left the sums, where those of several terms meet
    simplify,  # products with 1 that factors left behind, for whoever is shown the graph: others see no difference
    merged,  # a loop and its derivatives, as all that is asked of them is known
)


def turns(graph: Sequence[Node]) -> tuple[Node, ...]:
    """A graph with what each turn of a loop computes after all passes, and without what it need not any more."""
    return merged(with_turns(graph, lambda turn: passed(turn, (*ON_PRIMITIVES, *ON_TURN))))


def often(graph: Sequence[Node]) -> tuple[Node, ...]:
    """A graph with calls of what many scalars are alike in, after all passes."""
    return formulas(graph, lambda roots: passed(roots, ON_TARGET))


ON_STEP: tuple[Pass, ...] = (
    by_pairs,  # what would need memory
    *ON_PRIMITIVES, turns, to_elementary, simplify, sink_selects, expand, simplify,
)  # fmt: skip
ON_TARGET: tuple[Pass, ...] = (
    definite,  # calls that derivatives have added to, while logarithms are there to be taken apart
    often,  # before each of very many scalars is written out by the passes behind
    turns,  # of loops, which are graphs of their own
    in_steps(lambda news: passed(news, ON_STEP)),  # which are graphs of their own
    to_elementary,  # so that what the sides of a choice have in common are exponentials and logarithms
    simplify,  # constants that functions were taken apart at, which hide what sides have in common
    sink_selects,  # between two logarithms that functions were taken apart into
    expand_but_many,  # the rest, down to what both targets have code for
    simplify,  # constants that these were taken apart at
    stored,  # what steps read, in the form that it has when it is computed
    ties,  # between what was computed in several loops, as in derivatives of extremes
    verify,
)  # fmt: skip
ON_TURN = tuple([expand if each is expand_but_many else each for each in ON_TARGET if each is not often])  # run often


@final
class Structure(NamedTuple):
    """What is asked for: an expression without its arrays, what is derived of it, and what is known of its inputs.

    The slots in ``data`` never change, ``sortings`` are groups of their rows.  Terms that depend on the slots in
    ``dropped`` alone are left out; new slots are numbered from ``slots`` on; ``picks`` says that rows which change may
    be picked in the order of groups that do not.  ``rows`` are lengths of rows in chunks, of which no arrays are kept.
    Conditions of the data that are ``refuted`` are not taken to hold.
    """

    roots: tuple[Node, ...]
    derivation: Derivation
    errors: str = "raise"
    data: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    sortings: tuple[Sorting, ...] = ()
    slots: int = 0
    picks: bool = True
    rows: frozenset[str] = frozenset()
    refuted: frozenset[Node] = frozenset()


@final
@dataclass(frozen=True)
class Derived:
    """A structure as derived, and its roots and flags after some passes, or all.

    ``constants`` fill slots from ``slots`` on, where ``conditions`` hold; ``primitives`` are the roots before
    primitives are taken apart.
    """

    graph: tuple[Node, ...]
    roots: tuple[Node, ...]
    flags: tuple[Node, ...]
    constants: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()
    primitives: tuple[Node, ...] = ()
    slots: int = 0

    @property
    def all(self) -> tuple[Node, ...]:
        """The roots, and the flags behind them."""
        return (*self.roots, *self.flags)

    @cached_property
    def choices(self) -> tuple[dict[Node, bool], dict[object, tuple[Repeated, ...]]]:
        """What depends on which lengths are large: sums over the rows of an array, and values to keep, once known."""
        return candidates(self.all), {}

    @cached_property
    def moving(self) -> bool:
        """Whether windows move over anything."""
        return any(node.op in OVERLAPPING for node in topological(self.all))

    @cached_property
    def parted(self) -> tuple[Parted, ...]:
        """The outputs in pieces, which may lie side by side."""
        return parted(self.roots)

    @cached_property
    def rows(self) -> tuple[Rows, ...]:
        """What reduces rows, of which few that are long may be taken side by side."""
        return reduced_rows(self.all)

    @cached_property
    def splittable(self) -> Splittable:
        """The reductions that may be done in two steps."""
        return splittable(self.all)

    @cached_property
    def stages(self) -> Stages | None:
        """The kernels and library calls that follow one another, where there is a product of matrices."""
        return staged(self.roots, self.flags, self.slots + len(self.constants))

    @cached_property
    def parts(self) -> tuple[Derived, ...]:
        """What each kernel computes."""
        stages = self.stages.stages if self.stages else ()
        return tuple(Derived(stage.roots, stage.roots, stage.flags) for stage in stages) or (self,)

    def chosen(
        self, lengths: Mapping[str, int], widest: int | None, side_by_side: int = 0, beside: Beside = few_rows,
        also: tuple[Node, ...] = (), in_steps: InSteps | None = None,
    ) -> Chosen:  # fmt: skip
        """The choice for these lengths: sums that fit, and ``also`` these, and as many rows as are ``side_by_side``.

        Few results of many elements are reduced ``in_steps``, where threads would be few.
        """
        sums, values = self.choices
        found, first = beside(self.rows, lengths, side_by_side) if side_by_side else ((), ())
        room = widest and min(widest, KEPT)
        tall = tall_sums(sums, lengths, widest)
        parts = in_steps(self.splittable, lengths, tall) if in_steps and not first and not also else ()
        apart = {each.node for each in parts}
        sums = (*found, *(each for each in tall if each not in apart), *also)
        then = in_turn_behind(self.rows, first) if first else ()
        key = (*first, *then), sums, widest is not None
        if key not in values:
            values[key] = hoistable(self.all, *key)
        joins = tuple([each.place for each in self.parted if each.side_by_side(lengths)])
        repeated = narrow(values[key], lengths, room, widest, not first)
        repeated = repeated if widest is None else tuple(apart_from(repeated, {*sums, *apart}))
        return Chosen(sums, repeated, first, then, joins, parts)

    def with_chosen(self, chosen: Chosen) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """The roots and the flags, with what was chosen."""
        every = (*self.all, *(each.node for each in chosen.values))
        together = scattered(every, chosen.sums, chosen.first, chosen.parts)
        together = stored_late(together) if chosen.parts else together
        graph, nodes = together[: len(self.all)], together[len(self.all) :]
        found = zip(chosen.values, nodes, strict=True)  # of which those made of results are stored already
        graph = kept(graph, [replace(each, node=node) for each, node in found if node.op != "stored"])
        graph = joined(verify(graph), chosen.joins)
        return graph[: len(self.roots)], graph[len(self.roots) :]


def settled(structure: Structure) -> Derived:
    """The first passes: checks become flags, derivatives are there, and terms stand where they vary least."""
    plain, failures = split_checks(structure.roots)
    graph = structure.derivation(passed(plain, ON_VALUES))
    flags = failures if structure.errors == "raise" else ()
    plain = passed((*graph, *flags), ON_PRIMITIVES)
    roots, conditions = guarded_specialisation(plain, structure.data, len(graph), structure.refuted)
    return Derived(graph, roots[: len(graph)], roots[len(graph) :], conditions=conditions)


def specialised(structure: Structure, first: Derived) -> Specialised:
    """A structure after its ``first`` passes, with inputs in place of what depends on its data alone."""
    value, *others = first.all
    value = without_constants(value, structure.dropped) if structure.dropped else value
    return partial_evaluation((value, *others), structure.data, structure.slots, structure.rows, structure.refuted)


def derived(structure: Structure, last: Sequence[Pass] = (), first: Derived | None = None) -> Derived:
    """A structure after every pass, those of a target last; ``first`` is what the first passes give, where known."""
    first = first or settled(structure)
    special, outputs = specialised(structure, first), len(first.roots)
    special = sorted_rows(special, structure.sortings, structure.data, outputs, structure.picks)
    lowered = passed(special.roots, (*ON_TARGET, *last))
    flags = tuple(flag for flag in lowered[outputs:] if not flag.is_const(False))
    conditions = (*first.conditions, *special.conditions)
    primitives = special.roots[:outputs]
    return Derived(first.graph, lowered[:outputs], flags, special.constants, conditions, primitives, structure.slots)


def passed(graph: Sequence[Node], passes: Sequence[Pass]) -> tuple[Node, ...]:
    """A graph after several passes."""
    for transform in passes:
        graph = transform(graph)
    return tuple(graph)
