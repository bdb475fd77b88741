"""Short loops in each other that add to columns are written out: the plan, and random ones beside the interpreter."""

import numpy as np
import pytest
from reference import interpreted

from vecdist import lazy, logpdf, logsumexp, value_and_grad
from vecdist.codegen.cpu import plan
from vecdist.distributions import Beta, NegativeBinomial, StudentT
from vecdist.graph.leaves import leaf
from vecdist.kernel.lower import schedule
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived
from vecdist.runtime.cpu.backend import Cpu

SUMS = {
    "softmax": lambda logits: logsumexp(logits, axis=-1),
    "largest": lambda logits: logits.max(axis=-1) - np.tanh(logits).sum(axis=-1),
    "product": lambda logits: (1.0 + 0.1 * np.square(logits)).prod(axis=-1),
    "squares": lambda logits: np.square(logits.sum(axis=-1)) * np.exp(-0.1 * np.square(logits)).sum(axis=-1),
    "rare sides": lambda logits: logpdf(StudentT(4.0, logits, np.exp(0.1 * logits)), 0.3).sum(axis=-1),
    "counts": lambda logits: logpdf(NegativeBinomial(np.exp(0.2 * logits), 0.4), 3.0).max(axis=-1),
    "shares": lambda logits: logpdf(Beta(np.exp(0.3 * logits), 1.5), 0.2).sum(axis=-1) * logits.sum(axis=-1),
}


def drawn(seed):
    """A sum over rows of something of their products with several columns, and what it is of."""
    rng = np.random.default_rng(seed)
    rows, columns, count = int(rng.choice([1, 5, 8, 61, 300])), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    chains, dtype = [(), (1,), (3,)][int(rng.integers(3))], rng.choice(["f4", "f8"])
    x, slopes, levels, weights = (
        rng.normal(size=shape).astype(dtype)
        for shape in ((rows, columns), (*chains, columns, count), (*chains, count), (rows, count))
    )
    of_row = SUMS[rng.choice([*SUMS])]

    def function(x, slopes, levels):
        products = x @ slopes if slopes.ndim == 2 else (x[:, :, None] * slopes[:, None]).sum(axis=-2)
        logits = products + (levels if levels.ndim == 1 else levels[:, None])
        return (logits * weights).sum() + of_row(logits).sum()

    return function, (x, slopes, levels)[int(rng.integers(2)) :], x


def check(seed):
    function, wrt, x = drawn(seed)
    arrays = wrt if len(wrt) == 3 else (x, *wrt)
    target = function(*map(lazy, arrays))
    found = value_and_grad(target, wrt)
    wanted = interpreted((target.node, *map(leaf, wrt)), gradient_of)
    tolerance = 1e-12 if target.dtype == np.float64 else 5e-5
    for ours, theirs in zip((found[0], *found[1]), wanted, strict=True):
        small = tolerance * max(np.abs(theirs).max(), 1.0)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=small, err_msg=f"seed {seed}")


def test_random_rows(uncompiled, monkeypatch):
    taken = []
    ours = plan.straight_rows
    monkeypatch.setattr(plan, "straight_rows", lambda *args: taken.append(args) or ours(*args))
    for seed in range(28):
        check(seed)
    assert len(taken) > 14


@pytest.mark.slow
def test_compiled_random_rows(threads):
    for seed in range(1000 + 3 * threads, 1003 + 3 * threads):
        check(seed)


def test_rows_of_a_strip_add_to_columns_at_once():
    rng = np.random.default_rng(0)
    x, slopes = rng.normal(size=(300, 3)), rng.normal(size=(3, 2))
    target = logsumexp((lazy(x)[:, :, None] * lazy(slopes)).sum(axis=1), axis=1).sum()
    bound = bind((target.node, leaf(slopes)))
    part = derived(Structure(bound.roots, gradient_of, slots=len(bound.leaves)))
    kernel = schedule(*part.with_chosen(Cpu.chosen(part, bound.lengths)))
    assert "t0 += " not in planned(kernel), "lengths are not known"
    text = planned(Cpu.sized(kernel, bound.lengths))
    adding = [line for line in text.split("\n") if line.startswith("o") and " += t" in line]
    assert len(adding) == 6 and "o1[0, 1] += t1" in adding, text


def planned(kernel):
    """The statements of a kernel as they are planned, a line each."""
    return "\n".join(line for nest in plan.planned(kernel) for line in _lines(nest.items))


def _lines(items):
    for item in items:
        yield from _lines(item.body) if hasattr(item, "body") else [str(item)]
