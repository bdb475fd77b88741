"""Boxes and arrows as inline SVG: a layered layout, from inputs at the top to the result at the bottom.

Ranks are depths, an edge over several ranks runs through a lane in each of them, lanes and boxes are ordered by
barycentres, and places along a rank are the least squares fit to those of the neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, final

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
LABEL, DETAIL = 13.0, 11.0  # font sizes
GAP, LANE_GAP, RANK_GAP, MARGIN = 18.0, 10.0, 30.0, 6.0
SWEEPS = 8  # of ordering and of placing: drawings of 80 boxes settle in fewer
# Middle tones, readable on white and on black: outline, and at low opacity the fill.
COLOURS = {
    "leaf": "currentColor", "elementwise": "#3b82c4", "view": "#8b6cc9", "reduction": "#d97a1f", "density": "#2f9e6e",
}


@final
@dataclass(frozen=True)
class Box:
    """One box of a drawing.

    ``inputs`` are places of boxes before it, ``None`` where an argument is no box; ``ports`` are the arguments' names,
    where they have any.  Where ``commutes``, inputs may arrive in any order.
    """

    label: str
    detail: str = ""
    kind: str = "elementwise"
    inputs: tuple[int | None, ...] = ()
    ports: tuple[str, ...] = ()
    title: str = ""
    commutes: bool = False

    @property
    def sources(self) -> list[int]:
        return [source for source in self.inputs if source is not None]

    @property
    def width(self) -> float:
        widest = max(text_width(self.label, LABEL, bold=True), text_width(self.detail, DETAIL))
        ports = sum(text_width(name, DETAIL) + 14 for name in self.ports)
        return max(44.0, widest + (34 if self.kind == "reduction" else 22), ports + 12)

    @property
    def height(self) -> float:
        return (16.0 if self.ports else 0.0) + (20.0 if not self.detail else 38.0) + 4.0

    def port(self, number: int) -> float:
        """The place of an input along the upper side, from the middle."""
        if self.ports:
            widths = [text_width(name, DETAIL) + 14 for name in self.ports]
            return sum(widths[:number]) + widths[number] / 2 - sum(widths) / 2
        count = len(self.inputs)
        return (number - (count - 1) / 2) * min(16.0, (self.width - 28) / max(1, count - 1))


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a text, roughly: fonts differ, so a little more than most of them need."""
    narrow, wide = " .,:;|'!()[]ijlt", "mwMW%×÷"
    widths = (0.34 if c in narrow else 0.9 if c in wide else 0.68 if c.isupper() else 0.58 for c in text)
    return sum(widths) * size * (1.06 if bold else 1.0)


Item = tuple[int, int]  # a box and a rank: the box itself on its own rank, its lane on a later one


@dataclass(frozen=True)
class _Segment:
    """One step of an edge, from an item to an item of the next rank."""

    start: Item
    end: Item
    port: int = -1


class Layout:
    """The places of the boxes: ``x`` of each item, ``top`` and ``bottom`` of each rank."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = boxes
        self.ranks: list[int] = _ranks(boxes)
        self.segments = self._segments()
        self.rows = self._rows()
        self._order()
        self._untangle()
        self.x: dict[Item, float] = self._place()
        heights = [max(boxes[box].height for box, at in row if self.ranks[box] == at) for row in self.rows]
        self.top: list[float] = [MARGIN + sum(heights[:rank]) + rank * RANK_GAP for rank in range(len(heights))]
        self.bottom: list[float] = [top + height for top, height in zip(self.top, heights, strict=True)]

    def is_lane(self, item: Item) -> bool:
        return self.ranks[item[0]] != item[1]

    def width(self, item: Item) -> float:
        return 2.0 if self.is_lane(item) else self.boxes[item[0]].width

    def port(self, segment: _Segment) -> float:
        """How far from the middle of its end a segment arrives."""
        return 0.0 if segment.port < 0 else self.boxes[segment.end[0]].port(segment.port)

    def _segments(self) -> list[_Segment]:
        found: dict[_Segment, None] = {}
        for target, box in enumerate(self.boxes):
            for port, source in enumerate(box.inputs):
                if source is None:
                    continue
                lanes = [(source, rank) for rank in range(self.ranks[source], self.ranks[target])]
                found.update(dict.fromkeys(_Segment(a, b) for a, b in zip(lanes, lanes[1:], strict=False)))
                found[_Segment(lanes[-1], (target, self.ranks[target]), port)] = None
        return list(found)

    def _rows(self) -> list[list[Item]]:
        items = dict.fromkeys((box, rank) for box, rank in enumerate(self.ranks))
        items.update(dict.fromkeys(item for segment in self.segments for item in (segment.start, segment.end)))
        return [[item for item in items if item[1] == rank] for rank in range(max(self.ranks) + 1)]

    def _order(self) -> None:
        """Order each row by the barycentres of its neighbours; the order with the fewest crossings is kept."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(SWEEPS):
            down = sweep % 2 == 0
            for row in self.rows if down else reversed(self.rows):
                place = self.places()
                keys = {item: self._barycentre(item, down, place) for item in row}
                row.sort(key=keys.__getitem__)
            if (crossings := self.crossings()) < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows: list[list[Item]] = best
        self._swap()

    def _untangle(self) -> None:
        """Let the inputs of boxes that commute arrive in the order in which they come."""
        place = self.places()
        free = [s for s in self.segments if s.port >= 0 and self.boxes[s.end[0]].commutes]
        ports = {end: iter(sorted(s.port for s in free if s.end == end)) for end in {s.end for s in free}}
        kept = [s for s in self.segments if s not in free]
        free.sort(key=lambda segment: place[segment.start])
        self.segments: list[_Segment] = [*kept, *(replace(s, port=next(ports[s.end])) for s in free)]

    def _swap(self) -> None:
        """Swap neighbours as long as that leaves fewer crossings."""
        for _ in range(SWEEPS):
            swapped = False
            for row in self.rows:
                place = self.places()
                for left in range(len(row) - 1):
                    a, b = row[left : left + 2]
                    if self._crossed(a, b, place) > self._crossed(b, a, place):
                        row[left : left + 2] = b, a
                        swapped = True
            if not swapped:
                return

    def _crossed(self, a: Item, b: Item, place: dict[Item, int]) -> int:
        """The crossings between the edges of ``a`` and of ``b`` where ``a`` stands to the left."""
        above = [[place[s.start] for s in self.segments if s.end == item] for item in (a, b)]
        below = [[self.arrival(s, place) for s in self.segments if s.start == item] for item in (a, b)]
        return sum(x > y for left, right in (above, below) for x in left for y in right)

    def places(self) -> dict[Item, int]:
        return {item: number for row in self.rows for number, item in enumerate(row)}

    def arrival(self, segment: _Segment, place: dict[Item, int]) -> float:
        """The place where a segment ends, its port a small part of it where inputs keep their order."""
        free = self.boxes[segment.end[0]].commutes
        return place[segment.end] + (0.0 if free else self.port(segment) / 1000)

    def _barycentre(self, item: Item, down: bool, place: dict[Item, int]) -> float:
        """The mean place of the neighbours above or below, ports counted as parts of a place."""
        if down:
            near = [float(place[s.start]) for s in self.segments if s.end == item]
        else:
            near = [self.arrival(s, place) for s in self.segments if s.start == item]
        return sum(near) / len(near) if near else float(place[item])

    def crossings(self) -> int:
        place = self.places()
        ends = [(s.start[1], place[s.start], self.arrival(s, place)) for s in self.segments]
        return sum(
            a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for n, a in enumerate(ends) for b in ends[:n]
        )

    def _place(self) -> dict[Item, float]:
        x: dict[Item, float] = {}
        for row in self.rows:
            x.update(zip(row, fit([0.0] * len(row), self._distances(row)), strict=True))
        for sweep in range(SWEEPS):
            down = sweep % 2 == 1
            for row in self.rows if down else reversed(self.rows):
                wanted = [self._wanted(item, down, x) for item in row]
                x.update(zip(row, fit(wanted, self._distances(row)), strict=True))
        left = min(x[item] - self.width(item) / 2 for item in x) - MARGIN
        return {item: place - left for item, place in x.items()}

    def _wanted(self, item: Item, down: bool, x: dict[Item, float]) -> float:
        if down:
            near = [x[s.start] - self.port(s) for s in self.segments if s.end == item]
        else:
            near = [x[s.end] + self.port(s) for s in self.segments if s.start == item]
        return sum(near) / len(near) if near else x[item]

    def _distances(self, row: Sequence[Item]) -> list[float]:
        """The least distances between the middles of neighbours."""
        return [
            (self.width(a) + self.width(b)) / 2 + (LANE_GAP if self.is_lane(a) or self.is_lane(b) else GAP)
            for a, b in zip(row, row[1:], strict=False)
        ]


def _ranks(boxes: Sequence[Box]) -> list[int]:
    """The depth of each box; those without inputs stand just above the first box that uses them."""
    ranks: list[int] = []
    for box in boxes:
        ranks.append(1 + max((ranks[source] for source in box.sources), default=-1))
    for place, box in enumerate(boxes):
        users = [ranks[user] for user, other in enumerate(boxes) if place in other.inputs]
        if not box.sources and users:
            ranks[place] = min(users) - 1
    return ranks


def fit(wanted: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The places nearest to ``wanted``, in least squares, that keep at least ``distances`` between neighbours.

    With the distances subtracted this is a monotone regression, solved by pooling neighbours that are out of order.
    """
    offsets = [sum(distances[:n]) for n in range(len(wanted))]
    pools: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        mean, count = value - offset, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    free = [mean for mean, count in pools for _ in range(count)]
    return [place + offset for place, offset in zip(free, offsets, strict=True)]


def draw(boxes: Sequence[Box], label: str, note: str = "") -> str:
    """``boxes`` as an SVG element that takes its text colour from where it stands; the last box is the result."""
    layout = Layout(boxes)
    right = max(layout.x[item] + layout.width(item) / 2 for item in layout.x)
    width = max(right, text_width(note, DETAIL)) + MARGIN
    height = layout.bottom[-1] + MARGIN + (18 if note else 0)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" text-anchor="middle" '
        'fill="currentColor">'
    )
    parts = [opening, *_edges(layout), *(_box(layout, place) for place in range(len(boxes)))]
    if note:
        parts.append(f'<text x="{width / 2:.1f}" y="{height - 8:.1f}" font-size="{DETAIL:.0f}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>"])


def _edges(layout: Layout) -> list[str]:
    """All edges as one path, so that where two run together none is darker, and their heads as another."""
    lines, heads = [], []
    for segment in layout.segments:
        x0, x1 = layout.x[segment.start], layout.x[segment.end] + layout.port(segment)
        start, end = segment.start[1], segment.end[1]
        y0, y1 = layout.bottom[start], layout.top[end]
        if not layout.is_lane(segment.start):
            y0 = layout.top[start] + layout.boxes[segment.start[0]].height
        lane = layout.is_lane(segment.end)
        bend = (y1 - layout.bottom[start]) / 2
        lines.append(
            f"M{x0:.1f} {y0:.1f}V{layout.bottom[start]:.1f}C{x0:.1f} {y1 - bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} "
            + (f"{y1:.1f}V{layout.bottom[end]:.1f}" if lane else f"{y1 - 4:.1f}")
        )
        if not lane:
            heads.append(f"M{x1 - 3.2:.1f} {y1 - 6:.1f}L{x1:.1f} {y1:.1f}L{x1 + 3.2:.1f} {y1 - 6:.1f}Z")
    return [
        f'<path d="{"".join(lines)}" fill="none" stroke="currentColor" stroke-opacity=".45" stroke-width="1.2"/>',
        f'<path d="{"".join(heads)}" fill-opacity=".6"/>',
    ]


def _box(layout: Layout, place: int) -> str:
    box, rank = layout.boxes[place], layout.ranks[place]
    x, y = layout.x[place, rank], layout.top[rank]
    result = place == len(layout.boxes) - 1
    colour = COLOURS[box.kind]
    outline = OUTLINES[box.kind](x - box.width / 2, y, box.width, box.height)
    texts = [
        _text(x + box.port(number), y + 14, DETAIL, name, ' fill-opacity=".7"') for number, name in enumerate(box.ports)
    ]
    base = y + (16 if box.ports else 0)
    texts.append(_text(x, base + 17, LABEL, box.label, ' font-weight="600"'))
    if box.detail:
        texts.append(_text(x, base + 33, DETAIL, box.detail, ' fill-opacity=".7"'))
    return (
        f'<g><title>{escape(box.title or box.label)}</title><path d="{outline}" fill="{colour}" '
        f'fill-opacity="{".06" if box.kind == "leaf" else ".16"}" stroke="{colour}" '
        f'{STROKES.get(box.kind, "")} stroke-width="{2.2 if result else 1.2}"/>{"".join(texts)}</g>'
    )


def _text(x: float, y: float, size: float, text: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.0f}"{style}>{escape(text)}</text>'


def _rounded(radius: float) -> Callable[[float, float, float, float], str]:
    def outline(x: float, y: float, w: float, h: float) -> str:
        r = min(radius, h / 2)
        corner = f"a{r} {r} 0 0 1"
        return (
            f"M{x + r:.1f} {y:.1f}h{w - 2 * r:.1f}{corner} {r} {r}v{h - 2 * r:.1f}{corner} -{r} {r}"
            f"h{2 * r - w:.1f}{corner} -{r} -{r}v{2 * r - h:.1f}{corner} {r} -{r}Z"
        )

    return outline


def _funnel(x: float, y: float, w: float, h: float) -> str:
    return f"M{x:.1f} {y:.1f}h{w:.1f}l-12 {h:.1f}h{24 - w:.1f}Z"


OUTLINES: Any = {
    "leaf": _rounded(100.0), "elementwise": _rounded(7.0), "view": _rounded(3.0), "reduction": _funnel,
    "density": _rounded(3.0),
}
STROKES = {"view": ' stroke-dasharray="4 3"', "leaf": ' stroke-opacity=".6"'}
