"""What an explanation measures: the time that the kernel takes, beside the bytes that it was said to move."""

import numpy as np
import pytest

from vecdist import explain, lazy


def test_an_explanation_measures_when_asked():
    x = np.ones(1000)
    explanation = explain((lazy(x) * 2.0).sum(), wrt=(x,))
    assert explanation.seconds > 0
    assert explanation.bytes_per_second * explanation.seconds == pytest.approx(8000 + 8000 + 8)
