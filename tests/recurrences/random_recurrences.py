"""Random recurrences: steps as lists of instructions, which NumPy's loops run as well, on complex numbers too."""

from dataclasses import dataclass

import numpy as np

SIZES = (2, 3)


@dataclass(frozen=True)
class Problem:
    """A recurrence: shapes of carries, of elements and of shared arrays, and what a step does to them."""

    seed: int
    carries: tuple[tuple[int, ...], ...]
    elements: tuple[tuple[int, ...], ...]
    shared: tuple[tuple[int, ...], ...]
    instructions: tuple[tuple, ...]
    news: tuple[int, ...]
    y: int
    steps: int
    reverse: bool
    masked: bool

    def arrays(self):
        """What is given: starts, sequences and shared arrays."""
        rng = np.random.default_rng(self.seed)
        shapes = [*self.carries, *((self.steps, *shape) for shape in self.elements), *self.shared]
        return [np.asarray(0.7 * rng.normal(size=shape)) for shape in shapes]

    def mask(self):
        return np.random.default_rng(self.seed + 1).random(self.steps) < 0.7 if self.masked else None

    def step(self, shared):
        """The step, of carries and elements, on NumPy's arrays or lazy ones."""

        def run(carry, x):
            values = [*carry, *x, *shared]
            for op, *places in self.instructions:
                values.append(OPERATIONS[op](*(values[place] for place in places)))
            return tuple(values[place] for place in self.news), values[self.y]

        return run

    def parts(self, arrays):
        count = len(self.carries)
        return arrays[:count], arrays[count : count + len(self.elements)], arrays[count + len(self.elements) :]

    def total_of(self, carry, ys):
        """A number made of all results, by fixed weights."""
        weights = np.random.default_rng(self.seed + 2)
        found = (ys * weights.normal(size=np.shape(ys))).sum()
        for each in carry:
            found = found + (each * weights.normal(size=np.shape(each))).sum()
        return found

    def by_loop(self, arrays):
        """The number, and the results, by a loop."""
        starts, sequences, shared = self.parts(arrays)
        carry, step, mask = tuple(starts), self.step(shared), self.mask()
        ys = [None] * self.steps
        for t in reversed(range(self.steps)) if self.reverse else range(self.steps):
            new, y = step(carry, [x[t] for x in sequences])
            if mask is None or mask[t]:
                carry, ys[t] = new, y
            else:
                ys[t] = 0.0 * y
        return self.total_of(carry, np.array(ys)), carry, np.array(ys)

    def slopes(self, arrays):
        """The gradient of the number in every array, by complex steps."""
        found = []
        for place, array in enumerate(arrays):
            slope = np.empty(array.shape)
            for index in np.ndindex(array.shape):
                moved = [np.array(each, np.complex128) for each in arrays]
                moved[place][index] += 1e-30j
                slope[index] = self.by_loop(moved)[0].imag / 1e-30
            found.append(slope)
        return found


OPERATIONS = {
    "tanh of sum": lambda a, b: np.tanh(a + b),
    "product": lambda a, b: 0.8 * a * b,
    "half": lambda a: 0.5 * a,
    "difference": lambda a, b: a - b,
    "quotient": lambda a, b: a / (2.0 + b * b),
    "sine": lambda a: np.sin(a),
    "row sums": lambda a: a.sum(-1),
    "column": lambda a: a[..., None] * 0.5,
    "product with matrix": lambda matrix, a: np.sum(matrix * a, axis=-1) * 0.4,
    "choice": lambda a, b: np.where(_real(a) > 0.1, a, 0.5 * b),
    "first": lambda a: a[..., 0],
}


def _real(x):
    return x if hasattr(x, "node") else np.real(x)


def problem(seed):
    """A random recurrence."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice(SIZES))
    rows = (int(rng.integers(2, 5)),) if rng.random() < 0.4 else ()
    kinds = [(), (size,), (size, size)] if not rows else [rows, rows, (*rows, size)]
    pick = lambda count: tuple(kinds[rng.integers(len(kinds))] for _ in range(count))  # noqa: E731
    carries, elements, shared = pick(rng.integers(1, 3)), pick(rng.integers(0, 3)), pick(rng.integers(0, 3))
    shapes = [*carries, *elements, *shared]
    instructions = []
    for _ in range(rng.integers(3, 9)):
        made = _instruction(rng, shapes)
        if made:
            instructions.append(made[0])
            shapes.append(made[1])
    news = []
    for place, shape in enumerate(carries):
        fitting = [at for at in range(len(shapes)) if shapes[at] == shape and at != place]
        later = [at for at in fitting if at >= len(carries)] or fitting or [place]
        instructions.append(("tanh of sum", int(rng.choice(later)), place))
        shapes.append(shape)
        news.append(len(shapes) - 1)
    steps = int(rng.integers(1, 6))
    choice = rng.random(2) < 0.3
    return Problem(
        seed, carries, elements, shared, tuple(instructions), tuple(news), int(rng.integers(len(shapes))), steps,
        bool(choice[0]), bool(choice[1]),
    )  # fmt: skip


def _instruction(rng, shapes):
    """An instruction on values of these shapes, and the shape that it gives."""
    op = str(rng.choice(list(OPERATIONS)))
    a, b = (int(place) for place in rng.integers(len(shapes), size=2))
    if op in {"half", "sine"}:
        return (op, a), shapes[a]
    if op in {"row sums", "first"}:
        return ((op, a), shapes[a][:-1]) if shapes[a] else None
    if op == "column":
        return ((op, a), (*shapes[a], 1)) if len(shapes[a]) == 1 else None
    if op == "product with matrix":
        if len(shapes[a]) != 2 or shapes[b] != shapes[a][1:]:
            return None
        return (op, a, b), shapes[a][:-1]
    try:
        return (op, a, b), np.broadcast_shapes(shapes[a], shapes[b])
    except ValueError:
        return None
