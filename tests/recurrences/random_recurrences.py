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
        """The gradient of the number in every array."""
        return complex_slopes(lambda *given: self.by_loop(given)[0], arrays)


def complex_slopes(function, arrays):
    """The gradient of a function in every array, by complex steps."""
    found = []
    for place, array in enumerate(arrays):
        slope = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            moved = [np.array(each, np.complex128) for each in arrays]
            moved[place][index] += 1e-30j
            slope[index] = function(*moved).imag / 1e-30
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
    "outer product": lambda a, b: 0.6 * a[..., :, None] * b[..., None, :],
    "picked": lambda a: a[..., np.array([1, 0, 1])],
    "picked twice": lambda a: a[..., np.array([1, 0, 1, 1]), np.array([0, 0, 1, 0])],
    "at the largest": lambda a: np.take_along_axis(a, np.argmax(_real(a), axis=-1)[..., None], axis=-1)[..., 0],
    "of a row": lambda matrix, a: matrix[(_real(a) > 0.1).astype(int)],
    "running sum": lambda a: 0.5 * np.cumsum(a, axis=-1),
    "running maximum": lambda a: 0.5 * np.maximum.accumulate(a, axis=-1),
    "running product": lambda a: np.cumprod(a, axis=-1),
    "in order": lambda a: np.sort(a, axis=-1),
    "by order": lambda a: np.take_along_axis(np.sin(a), np.argsort(a, axis=-1), axis=-1),
    "diagonal": lambda matrix: np.diagonal(matrix, axis1=-2, axis2=-1),
    "factor": lambda matrix: cholesky(_definite(matrix)) * 0.4,
    "solution": lambda matrix, a: np.linalg.solve(_regular(matrix), a[..., None])[..., 0],
    "inverse": lambda matrix: np.linalg.inv(_regular(matrix)),
    "determinant": lambda matrix: 0.1 * np.linalg.det(_regular(matrix)),
}
SAME = {"half", "sine", "running sum", "running maximum", "running product", "in order", "by order"}
OF_MATRICES = {"factor": (0,), "inverse": (0,), "determinant": (2,), "diagonal": (1,), "picked twice": (2, 4)}
"""How many of the last axes go, and what comes in their place."""


def _real(x):
    return x if hasattr(x, "node") else np.real(x)


def _regular(matrix):
    """Rows that have to be exchanged."""
    unit = np.eye(matrix.shape[-1])
    return np.sin(matrix) + 2.0 * unit[::-1]


def _definite(matrix):
    """Symmetric and positive definite."""
    return np.sum(matrix[..., :, None, :] * matrix[..., None, :, :], axis=-1) + np.eye(matrix.shape[-1])


def cholesky(a):
    """The factor, without conjugates of complex numbers."""
    if hasattr(a, "node"):
        return np.linalg.cholesky(a)
    factor = np.zeros_like(a)
    for i in range(a.shape[-1]):
        for j in range(i + 1):
            rest = a[..., i, j] - (factor[..., i, :j] * factor[..., j, :j]).sum(axis=-1)
            factor[..., i, j] = np.sqrt(rest) if i == j else rest / factor[..., j, j]
    return factor


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
    one, other = shapes[a], shapes[b]
    if op in SAME:
        return ((op, a), one) if one or op in {"half", "sine"} else None
    if op in {"row sums", "first", "at the largest"}:
        return ((op, a), one[:-1]) if one and one[-1] else None
    if op == "column":
        return ((op, a), (*one, 1)) if len(one) == 1 else None
    if op == "picked":
        return ((op, a), (*one[:-1], 3)) if one and one[-1] > 1 else None
    if op in OF_MATRICES:
        gone, *new = OF_MATRICES[op]
        fits = len(one) > 1 and one[-1] == one[-2] > 1
        return ((op, a), (*one[: len(one) - gone], *new)) if fits else None
    if op == "outer product":
        return ((op, a, b), (*one, one[-1])) if one and one == other and len(one) < 3 else None
    if op == "of a row":
        return ((op, a, b), (*other, *one[1:])) if len(one) == 2 and one[0] > 1 and len(other) < 2 else None
    if op == "solution":
        return ((op, a, b), other) if len(one) > 1 and one[-1] == one[-2] > 1 and other == one[:-1] else None
    if op == "product with matrix":
        return ((op, a, b), one[:-1]) if len(one) == 2 and other == one[1:] else None
    try:
        return (op, a, b), np.broadcast_shapes(one, other)
    except ValueError:
        return None
