"""Few long rows side by side: the loops over their elements come first, and what they compute is the same."""

from unittest import mock

import numpy as np
import pytest
from cuda import few_rows_cases
from hypothesis import given, settings
from loop_executor import loops, run_loops
from programs import programs
from reference import assert_same, interpreted

from vecdist import lazy, logsumexp
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes import few_rows
from vecdist.passes.bind import bind
from vecdist.runtime.base import Backend
from vecdist.runtime.pipeline import lower, values


class SideBySide(Backend):
    """What takes any number of rows side by side."""

    side_by_side = 1000


def lowered(results, wrt=()):
    bound = bind((*(result.node for result in results), *map(leaf, wrt)))
    return bound, lower(bound, gradient_of if wrt else values, "nan", SideBySide)[1]


def outer_lengths(kernel, lengths):
    """The numbers of turns of the outermost loops."""
    return sorted(loop.turns(lengths) for _, loop in kernel.shared_nests())


@settings(max_examples=120)
@given(programs(dtypes=("f8", "f4", "f8", "i8"), lengths=(1, 2, 3, 4), most_steps=6, checks=True))
def test_random_programs(program):
    roots = (program.scalar().node, *(leaf(array) for array in program.parameters))
    with mock.patch.object(few_rows, "LONG", 2):
        bound = bind(roots)
        _, kernel = lower(bound, gradient_of, target=SideBySide)
    found, failed = run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    wanted = interpreted(roots, gradient_of)
    assert not failed
    assert_same([mine.reshape(w.shape) for mine, w in zip(found, wanted, strict=True)], wanted, rtol=1e-5)


def test_each_element_is_read_once_for_all_chains():
    (results, wrt) = few_rows_cases.line(3, 2000)
    bound, kernel = lowered(results, wrt)
    assert outer_lengths(kernel, bound.lengths)[-1] == 2000, "the elements"
    assert 3 in {each.turns(bound.lengths) for each in loops(kernel)}, "and the chains in them"


@pytest.mark.parametrize(("rows", "columns"), [(3, 500), (2000, 3000)])
def test_short_rows_and_many_rows_stay_as_they_are(rows, columns):
    mean = np.zeros((rows, 1))
    bound, kernel = lowered((((lazy(mean) - np.ones(columns)) ** 2).sum(axis=1),))
    assert outer_lengths(kernel, bound.lengths) == [rows]


def test_rows_that_are_normalised_stay_as_they_are():
    """An extreme of each row, which no thread can add up."""
    bound, kernel = lowered((logsumexp(lazy(np.zeros((3, 1))) * np.ones(2000), axis=1),))
    assert outer_lengths(kernel, bound.lengths) == [3]


def test_columns_of_a_table_come_before_the_chains_where_they_are_more():
    (results, wrt) = few_rows_cases.table(2, 200, 7)
    bound, kernel = lowered(results, wrt)
    nest = max((loop for _, loop in kernel.shared_nests()), key=lambda loop: loop.turns(bound.lengths))
    inner = [each.turns(bound.lengths) for each in nest.body.every_loop()]
    assert nest.turns(bound.lengths) == 200 and inner == [7]
