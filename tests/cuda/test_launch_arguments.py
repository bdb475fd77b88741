"""What fills the slots of a launch: arrays that come with each call are not held by it."""

import numpy as np

from vecdist import lazy
from vecdist.graph.leaves import leaf
from vecdist.passes.bind import bind
from vecdist.runtime.base import Feed
from vecdist.runtime.cuda.arguments import slot_arguments
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values


def test_only_what_fills_a_slot_every_time_is_held():
    strided, dense = np.ones((6, 4))[::2, ::2], np.ones((3, 2))
    bound = bind((((lazy(strided) * dense + 2.5).sum()).node,))
    _, kernel = lower(bound, values, "nan", Cuda)
    given = leaf(strided).attrs[0]
    feeds, names = Feed.each(bound.leaves, {given: 7}), {}
    arguments = slot_arguments(kernel, feeds, names)
    place = bound.leaves.index(given)
    text = ["arrays[7]", "arrays[7].strides[0] // 8", "arrays[7].strides[1] // 8"]
    at = arguments.index("arrays[7]")
    assert arguments[at : at + 3] == text and len(arguments) == 5
    assert set(names) == {f"x{slot}" for slot in range(3)} - {f"x{place}"}
    assert not any(value is strided for value in names.values())
