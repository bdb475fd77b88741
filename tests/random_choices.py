"""Random expressions of choices in choices: what becomes of them must not depend on which of these are branches."""

import functools
from contextlib import contextmanager
from unittest import mock

import numpy as np

from vecdist import lazy
from vecdist.codegen.cpu import plan as cpu
from vecdist.codegen.cuda import plan as cuda
from vecdist.codegen.reverse_if_conversion import branched
from vecdist.graph.memo import Memo
from vecdist.runtime import cache, pipeline

UNARY = (np.tanh, np.exp, np.log1p, np.sqrt, np.negative)
BINARY = (np.add, np.subtract, np.multiply, np.maximum)


def expression(seed, length, dtype="f8"):
    """A scalar of a few arrays, and these."""
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=length).astype(dtype) for _ in range(3)]
    found, tests = [lazy(array) for array in arrays], []
    for step in range(30):
        one, other = (found[-1 - min(int(rng.geometric(0.2)), len(found)) + 1] for _ in range(2))
        kind = rng.choice(("unary", "binary", "choice", "test")) if tests else "test"
        if kind == "unary":
            function = UNARY[step % len(UNARY)]
            found.append(function(np.abs(one) if function in {np.log1p, np.sqrt} else np.tanh(one)))
        elif kind == "binary":
            found.append(BINARY[step % len(BINARY)](one, other))
        elif kind == "choice":
            found.append(np.where(tests[-1 - int(rng.integers(min(3, len(tests))))], one, other))
        else:
            test = one < other
            tests.append(~test if rng.random() < 0.3 else test & tests[-1] if tests and rng.random() < 0.3 else test)
    return sum(each.sum() for each in (*found[-3:], *found[:3])), arrays


@contextmanager
def with_branches(dear):
    """Inside, sides of so many steps have branches, everywhere; kernels that were made before are not used."""

    def every(items, *_, **options):
        return branched(items, dear)

    with (
        mock.patch.object(cpu, "branched", every),
        mock.patch.object(cuda, "branched", every),
        mock.patch.object(pipeline, "_plans", Memo(cache.most)),
        mock.patch.object(pipeline, "_launches", Memo(cache.most)),
    ):
        yield


NEVER = functools.partial(with_branches, 10**9)
ALWAYS = functools.partial(with_branches, 1)
