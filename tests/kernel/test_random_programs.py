"""Loop nests of random programs compute what the interpreter does, element by element, and never leave their arrays."""

from hypothesis import given, settings
from loop_executor import run_loops
from programs import programs
from reference import assert_same, interpreted

from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values


def loops_of(roots, derivation=values):
    """The values of ``derivation`` of ``roots``, by way of every pass and the loop nests."""
    bound = bind(roots)
    _, kernel = lower(bound, derivation)
    found, failed = run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    assert not failed
    return found


@settings(max_examples=150)
@given(programs(checks=True))
def test_loops_compute_what_the_interpreter_does(program):
    wanted = interpreted(program.roots)
    found = loops_of(program.roots)
    assert_same([mine.reshape(w.shape) for mine, w in zip(found, wanted, strict=True)], wanted)


@settings(max_examples=150)
@given(programs(dtypes=("f8", "f4", "f8", "i8"), lengths=(1, 2, 3, 4), most_steps=5, checks=True))
def test_loops_compute_gradients(program):
    """Cotangents of slices become pads, those of broadcasts become sums."""
    roots = (program.scalar().node, *(leaf(array) for array in program.parameters))
    wanted = interpreted(roots, gradient_of)
    found = loops_of(roots, gradient_of)
    assert_same([mine.reshape(w.shape) for mine, w in zip(found, wanted, strict=True)], wanted, rtol=1e-5)
