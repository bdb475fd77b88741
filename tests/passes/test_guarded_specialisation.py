"""Choices that constant data have made are made once, and their conditions kept."""

import numpy as np
from reference import ops, slot

from vecdist.graph.node import const, where
from vecdist.passes.guarded_specialisation import guarded_specialisation
from vecdist.primitives.structure import summed

DATA, FREE = slot(0, ("n",)), slot(1, ("n",))
NAN = const(np.nan)


def test_a_value_that_data_choose_over_an_edge_case_is_taken_for_granted():
    root = where(DATA > 0, FREE * DATA, NAN)
    assert guarded_specialisation((root,), {0}, 1) == ((FREE * DATA,), (DATA > 0,))
    turned = where(DATA > 0, const(-np.inf), FREE * DATA)
    assert guarded_specialisation((turned,), {0}, 1) == ((FREE * DATA,), (~(DATA > 0),))


def test_its_condition_is_known_wherever_it_stands():
    value = summed(where(DATA > 0, FREE, NAN), (-1,))
    slope = where(DATA > 0, FREE, 0.0)
    (_, found), _ = guarded_specialisation((value, slope), {0}, 2)
    assert found == FREE


def test_choices_that_are_no_edge_cases_stay():
    for root in (where(DATA > 0, FREE, 0.0), where(FREE > 0, FREE, NAN), where(DATA > 0, FREE, DATA)):
        assert guarded_specialisation((root,), {0}, 1) == ((root,), ())


def test_flags_of_data_alone_are_conditions():
    mixed = DATA < FREE
    (root, first, second), conditions = guarded_specialisation((FREE, DATA < 0, mixed), {0}, 1)
    assert root is FREE and first.is_const(False) and second is mixed and conditions == (~(DATA < 0),)


def test_nothing_is_known_without_data():
    root = where(FREE > 0, FREE, NAN)
    assert guarded_specialisation((root,), (), 1) == ((root,), ()) and "where" in ops((root,))


def test_what_masks_choose_and_what_data_refute_stays():
    masked = where(slot(2, ("n",), bool), FREE, NAN)
    assert guarded_specialisation((masked,), {0, 2}, 1) == ((masked,), ())
    root = where(DATA > 0, where(DATA < 9, FREE * DATA, NAN), NAN)
    (found,), conditions = guarded_specialisation((root,), {0}, 1, {DATA < 9})
    assert conditions == (DATA > 0,) and found == where(DATA < 9, FREE * DATA, NAN)
