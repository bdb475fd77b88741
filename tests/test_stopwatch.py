"""What an explanation measures: the time that the kernel takes, beside the bytes that it was said to move."""

import numpy as np
import pytest

from vecdist import explain, lazy


def test_an_explanation_measures_when_asked():
    x = np.ones(1000)
    explanation = explain((lazy(x) * 2.0).sum(), wrt=(x,))
    assert explanation.seconds > 0
    assert explanation.bytes_per_second * explanation.seconds == pytest.approx(8000 + 8000 + 8)


def test_lists_are_given_to_what_is_timed():
    found = explain((lazy(np.arange(3.0)) * [1.0, 2.0, 3.0]).sum())
    assert found.seconds > 0.0 and found.prepare()()[0][0] == 8.0
