"""Which axes of an expression have the same length, which have length 1, and which are one axis in two pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from vecdist.graph.chunked import laid_out
from vecdist.graph.node import Node, topological
from vecdist.primitives.calls import results_of
from vecdist.primitives.recurrences import locals_of
from vecdist.primitives.scans import IN_ORDER
from vecdist.primitives.structure import STRUCTURE, is_along, is_reduction
from vecdist.primitives.windows import OVERLAPPING

PINNED = {"view", "pad", "reshape", "gather", "scatter", "product", "recurrence", "external", *OVERLAPPING}
STATIC = -1  # the length class of axes that are 1 by construction


class Axes:
    """A length class for each axis of each node; classes unite where lengths must be equal."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._sizes: list[tuple[int, ...]] = []  # one, or those of the axes that are one axis
        self._single: set[int] = set()
        self._classes: dict[Node, list[int]] = {}
        self._absorbed: set[int] = set()

    def fresh(self, size: int) -> int:
        self._parents.append(len(self._parents))
        self._sizes.append((size,))
        return len(self._parents) - 1

    def root(self, length: int) -> int:
        while length != STATIC and self._parents[length] != length:
            length = self._parents[length]
        return STATIC if length in self._single else length

    def unite(self, lengths: Sequence[int]) -> int:
        first, *rest = (self.root(length) for length in lengths)
        if STATIC in (first, *rest):
            for length in (first, *rest):
                self.make_single(length)
            return STATIC
        for length in rest:
            self._parents[length] = first
        return first

    def make_single(self, length: int) -> None:
        root = self.root(length)
        if root != STATIC:
            self._single.add(root)

    def put(self, node: Node, lengths: list[int]) -> None:
        self._classes[node] = lengths

    def has(self, node: Node) -> bool:
        return node in self._classes

    def classes(self, node: Node) -> list[int]:
        return [self.root(length) for length in self._classes[node]]

    def sizes(self, length: int) -> tuple[int, ...]:
        """The lengths whose product a length is."""
        return self._sizes[length]

    def absorb(self, first: int, second: int) -> None:
        """Make ``first`` followed by ``second`` one axis."""
        self._sizes[first] += self._sizes[second]
        self._absorbed.add(second)

    def kept(self, node: Node) -> tuple[int, ...]:
        """The axes of ``node`` that are not absorbed by the axis before them."""
        classes = self.classes(node)
        return tuple(axis for axis, length in enumerate(classes) if length not in self._absorbed)

    def find(self, node: Node, axis: int) -> int | None:
        length = self.root(self._classes[node][axis])
        return None if length == STATIC else length


def find_axes(roots: Sequence[Node]) -> Axes:
    """The length classes of every node below ``roots``, and of those in their steps."""
    axes = Axes()
    for node in topological(roots):
        axes.put(node, _classes(axes, node))
    return axes


def _classes(axes: Axes, node: Node) -> list[int]:
    """The length classes of a node whose arguments have theirs."""
    if is_reduction(node):
        return _reduced(axes, node)
    if node.op == "gather":
        return _gathered(axes, node)
    if node.op == "scatter":
        return _scattered(axes, node)
    if node.op == "view":
        return _viewed(axes, node)
    if node.op == "pad":
        return _padded(axes, node)
    if node.op in OVERLAPPING:
        return _windowed(axes, node)
    if node.op == "recurrence":
        return _recurring(axes, node)
    if node.op in {"leaf", "position", "reshape"}:
        return [axes.fresh(int(size)) for size in node.shape]
    if node.op == "external":
        return _called(axes, node)
    if node.op == "product":
        (rows, inner), (other, columns) = (axes.classes(arg) for arg in node.args)
        axes.unite([inner, other])
        return [axes.root(rows), axes.root(columns)]
    if node.op == "checked":
        return axes.classes(node.args[0])  # what is checked may have other axes
    if node.op in {"const", "extent"}:
        return []
    return [_joined(axes, node.args, axis) for axis in range(-node.ndim, 0)]


def _recurring(axes: Axes, node: Node) -> list[int]:
    """Those of the steps and rows, and of a carry's own axes; what stands for an argument in a step has the last."""
    step, carry, last = node.attrs
    for place, (arg, inner) in enumerate(zip(node.args, locals_of(node), strict=True)):
        own = axes.classes(arg)[step.leading(place) :]
        if axes.has(inner):  # the step of another recurrence, of the same lengths
            own = [axes.unite(pair) for pair in zip(axes.classes(inner), own, strict=True)]
        axes.put(inner, own)
    for inner in topological(step.news):
        if not axes.has(inner):
            axes.put(inner, _classes(axes, inner))
    for place, new in enumerate(step.news):
        pairs = zip(axes.classes(new), axes.classes(node.args[place])[step.rows :], strict=True)
        for pair in pairs:
            axes.unite(pair)
    steps = axes.unite([axes.classes(arg)[0] for arg in node.args[step.carries : step.carries + step.elements]])
    for row in range(step.rows):
        places = [(arg, step.leading(place) - step.rows + row) for place, arg in enumerate(node.args)]
        for arg, axis in places:
            if arg.shape[axis] == 1 != node.args[0].shape[row]:
                axes.make_single(axes.classes(arg)[axis])
        axes.unite([axes.classes(arg)[axis] for arg, axis in places if arg.shape[axis] == node.args[0].shape[row]])
    found = axes.classes(node.args[carry])
    return found if last else [axes.root(steps), *found]


def _called(axes: Axes, node: Node) -> list[int]:
    """Those of the results of a call: the leading axes of its arguments, and what its letters say of the others."""
    call, _, ahead, _ = node.attrs
    given, found = call.axes or (("",) * len(node.args), ("",) * len(results_of(node)))
    leading = [axes.classes(arg)[: arg.ndim - len(own) if call.axes else ahead]
               for arg, own in zip(node.args, given, strict=True)]  # fmt: skip
    lead = [axes.unite(each) for each in zip(*leading, strict=True)]
    letters: dict[str, int] = {}
    for arg, own in zip(node.args, given, strict=True):
        for letter, length in zip(own, axes.classes(arg)[arg.ndim - len(own) :], strict=True):
            letters[letter] = axes.unite([letters.get(letter, length), length])
    for each, own in zip(results_of(node), found, strict=True):
        if not axes.has(each):
            free = [axes.fresh(int(length)) for length in each.shape[len(lead) :]]
            named = [letters.setdefault(letter, length) for letter, length in zip(own, free, strict=bool(own))]
            axes.put(each, [*lead, *(named or free)])
    return axes.classes(node)


def _reduced(axes: Axes, node: Node) -> list[int]:
    source = axes.classes(node.args[0])
    return [STATIC if axis - node.ndim in node.attrs[0] else length for axis, length in enumerate(source)]


def _viewed(axes: Axes, node: Node) -> list[int]:
    (source,) = node.args
    lengths = [STATIC if size == 1 else axes.fresh(int(size)) for size in node.shape]
    for length, size, (to, start, step) in zip(
        axes.classes(source), source.shape, node.attrs[0], strict=True
    ):
        if to is not None and (start, step) == (0, 1) and node.shape[to] == size:
            lengths[to] = length
    return lengths


def _padded(axes: Axes, node: Node) -> list[int]:
    """The axes that the source fills are the source's, the others are their own."""
    (source,) = node.args
    own, lengths = axes.classes(source), [STATIC if size == 1 else axes.fresh(int(size)) for size in node.shape]
    for axis, (to, start, step) in enumerate(node.attrs[0]):
        if to is not None and (start, step, source.shape[to]) == (0, 1, node.shape[axis]):
            lengths[axis] = own[to]
    return lengths


def _windowed(axes: Axes, node: Node) -> list[int]:
    """Those of the source, but along the axis of windows, and in them where the source is shared by their places."""
    (source,), (moves,) = node.args, node.attrs
    found = axes.classes(source)
    for axis, places, *_ in moves:
        for each in [axis] if source.shape[places] == node.shape[places] else [axis, places]:
            found[each] = STATIC if node.shape[each] == 1 else axes.fresh(int(node.shape[each]))
    return found


def _gathered(axes: Axes, node: Node) -> list[int]:
    """Axes before and after the indexed ones are the source's, those between are of the indices.

    Where these are the places of a whole diagonal, it is as long as the axes that it goes through.
    """
    (start, count), (source, *indices) = node.attrs, node.args
    if all(each is indices[0] and each.op == "position" for each in indices):
        through = source.shape[start : start + count]
        if indices[0].shape == through[:1] and len(set(through)) == 1:
            axes.unite([axes.classes(indices[0])[0], *axes.classes(source)[start : start + count]])
    before, after = axes.classes(source)[:start], axes.classes(source)[start + count :]
    picked = range(start + len(after) - node.ndim, 0)
    for place, length in enumerate(before):
        batched = [i for i in indices if i.ndim == start + len(picked) and i.shape[place] != 1]
        axes.unite([length, *(axes.classes(index)[place] for index in batched)])
    return [*before, *(_joined(axes, indices, axis) for axis in picked), *after]


def _scattered(axes: Axes, node: Node) -> list[int]:
    """Axes before and after the indexed ones are those of the values, whose others are of the indices."""
    (start, count), (values, *indices) = node.attrs, node.args
    own, after = axes.classes(values), node.ndim - start - count
    picked = values.ndim - start - after
    for axis in range(start + picked):
        given = [each for each in indices if each.ndim >= start + picked - axis]
        places = [(each, axis - start - picked) for each in given if each.shape[axis - start - picked] != 1]
        axes.unite([own[axis], *(axes.classes(each)[place] for each, place in places)])
    new = [axes.fresh(int(size)) for size in node.shape[start : start + count]]
    return [*own[:start], *new, *own[start + picked :]]


def _joined(axes: Axes, args: Sequence[Node], axis: int) -> int:
    """The class of an axis of an elementwise node, from the arguments that have it."""
    having = [arg for arg in args if -axis <= arg.ndim]
    varying = [arg for arg in having if arg.shape[axis] != 1] or having
    if len(varying) < len(having):
        for arg in having:
            if arg.shape[axis] == 1:
                axes.make_single(axes.classes(arg)[axis])
    return axes.unite([axes.classes(arg)[axis] for arg in varying])


def merge_axes(roots: Sequence[Node], axes: Axes) -> None:
    """Unite neighbouring axes that always appear together and lie together in memory.

    An array of shape (n, m) that nothing indexes by rows is one axis of n * m elements: one loop, no index arithmetic.
    So are two axes that are reduced together, or of which all results have both.
    """
    nodes = list(topological(roots))
    while pairs := _mergeable(nodes, axes):
        for pair in pairs:
            axes.absorb(*pair)


def _mergeable(nodes: Sequence[Node], axes: Axes) -> list[tuple[int, int]]:
    """Pairs of classes that are neighbours wherever either appears, and may be one; no class is in two of them."""
    followers: dict[int, set[int]] = {}
    leaders: dict[int, set[int]] = {}
    pinned: set[int] = {STATIC}
    apart: set[tuple[int, int]] = set()
    plain: set[Node] = set()
    for node in nodes:
        lengths = [axes.classes(node)[axis] for axis in axes.kept(node)]
        for place, length in enumerate(lengths):
            followers.setdefault(length, set()).add(lengths[place + 1] if place + 1 < len(lengths) else STATIC)
            leaders.setdefault(length, set()).add(lengths[place - 1] if place else STATIC)
        pinned |= _pinned(node, axes)
        plain |= {node} if _is_plain(node, plain) else set()
        apart |= _apart(node, axes, plain)
    pairs: list[tuple[int, int]] = []
    taken = pinned  # a class of three that lie together is the first of a pair with the third, the next time
    for first, after in followers.items():
        if len(after) == 1 and first not in taken:
            (second,) = after
            mergeable = second not in taken and leaders[second] == {first} and first != second
            if mergeable and (first, second) not in apart:
                pairs.append((first, second))
                taken |= {first, second}
    return pairs


def _pinned(node: Node, axes: Axes) -> set[int]:
    """The classes whose axes must stay as they are because of ``node``."""
    if node.op in PINNED:
        every = (node, *node.args)
        return set() if _keeps_order(node, axes) else {length for each in every for length in axes.classes(each)}
    if node.op in IN_ORDER:
        return {axes.classes(node)[node.attrs[0][0]]}
    if is_along(node):
        (source,) = node.args
        lengths = axes.classes(source)
        over = {lengths[axis] for axis in node.attrs[0]}
        return set(lengths) if over not in ({STATIC}, set(lengths), set(lengths) - {STATIC}) else set()
    if node.op == "leaf" and node.attrs[0].kind != "number" and laid_out(node.attrs[0].array) is not True:
        return set(axes.classes(node))
    return set()


def _keeps_order(node: Node, axes: Axes) -> bool:
    """Whether a view has all elements as they are, but for axes of length 1 that come or go, or are new ones."""
    if node.op != "view":
        return False
    entries, lengths, own = node.attrs[0], axes.classes(node.args[0]), axes.classes(node)
    varying = [(entry, length) for entry, length in zip(entries, lengths, strict=True) if length != STATIC]
    places = [to for (to, start, step), _ in varying if to is not None and (start, step) == (0, 1)]
    return [own[place] for place in places] == [length for _, length in varying] and places == sorted(places)


def _is_plain(node: Node, plain: set[Node]) -> bool:
    """Whether ``node`` has elements of an array, at their places, or what is made of them.

    Derivatives may be asked for in it, elementwise, between which and the array no axis may go.
    """
    if node.op == "leaf":
        return node.ndim > 0
    moved = node.op in {*STRUCTURE, "extent"} - {"view"}
    return not moved and not plain.isdisjoint(node.args)


def _apart(node: Node, axes: Axes, plain: set[Node]) -> set[tuple[int, int]]:
    """The neighbouring classes of which ``node`` reduces one, or repeats an argument along one, and not the other."""
    if is_reduction(node) or node.op == "extent":
        (source,) = node.args
        over = {axis % source.ndim for axis in node.attrs[0]}
        return set(_pairs(source, axes, lambda one, other: (one in over) != (other in over)))
    if len(node.args) < 2 or node.op in PINNED or node.op == "checked":
        return set()
    return {pair for arg in node.args for pair in _pairs(node, axes, _is_told(node, arg, axes, arg in plain))}


def _is_told(node: Node, arg: Node, axes: Axes, plain: bool) -> Callable[[int, int], bool]:
    """Whether an argument is repeated along one of two axes of ``node``; or, where that is ``plain``, along any."""
    own = node.ndim - arg.ndim
    repeated = [length == STATIC for length in [STATIC] * own + axes.classes(arg)]
    if plain:
        return lambda one, other: repeated[one] != repeated[other] or (repeated[one] and one >= own)
    return lambda one, other: repeated[one] != repeated[other]


def _pairs(node: Node, axes: Axes, wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """The classes of neighbouring axes of ``node`` that are wanted."""
    lengths, kept = axes.classes(node), axes.kept(node)
    return ((lengths[one], lengths[other]) for one, other in zip(kept, kept[1:], strict=False) if wanted(one, other))
