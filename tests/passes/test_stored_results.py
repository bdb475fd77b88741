"""What of results that are found in two steps is stored: what others read, and not what that is made of."""

from functools import partial

import numpy as np
import pytest

from vecdist import lazy
from vecdist.graph.node import rewrite, topological
from vecdist.passes.split_reductions import Split, Step, split
from vecdist.passes.stored_results import stored_late
from vecdist.primitives.structure import is_reduction, rebuilt


def stored(result):
    """The operations whose values are in memory, where all reductions of an expression are done in two steps."""

    def rule(node, args):
        new = rebuilt(node, args)
        return split(new, Split(new, (Step(tuple(new.attrs[0]), 4),))) if is_reduction(new) else new

    late = stored_late(rewrite((result.node,), rule))
    return [node.args[0].op for node in topological(late) if node.op == "stored" and not in_pieces(node.args[0])]


def in_pieces(node):
    return is_reduction(node) and len(node.attrs) > 1


X = lazy(np.arange(30.0).reshape(5, 6))
ROWS = lazy(np.arange(6.0)[None]), lazy(np.arange(5.0)[:, None])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x, row, total, most, least: x - total(x), ["sum"]),
        (lambda x, row, total, most, least: x - total(x) / 6.0, ["div"]),
        (lambda x, row, total, most, least: x / np.sqrt(most(x) * 2.0 + 1.0), ["sqrt"]),
        (lambda x, row, total, most, least: x * total(np.exp(x - most(x))), ["max", "sum"]),  # elements read both
        (lambda x, row, total, most, least: x - np.log(total(np.exp(x - most(x)))) - most(x), ["max", "log"]),
        (lambda x, row, total, most, least: (x - least(x)) / (most(x) - least(x)), ["min", "sub"]),
        (lambda x, row, total, most, least: total(x) * 0.5, ["mul"]),  # a result itself
        (lambda x, row, total, most, least: x * (total(x) * row), ["mul"]),  # and of an input
        (lambda x, row, total, most, least: x * (total(x) * x), ["sum"]),  # of more elements
    ],
)
def test_what_others_read_is_stored(function, wanted, axis):
    reductions = [partial(each, axis=axis, keepdims=True) for each in (np.sum, np.max, np.min)]
    assert stored(function(X, ROWS[axis], *reductions)) == wanted
