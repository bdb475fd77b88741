"""Random programs of NumPy's functions on a GPU, beside NumPy and its differences."""

import pytest
import random_array_programs as programs
import random_ties

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("seed", range(2000, 2060))
@pytest.mark.parametrize("kind", [programs, random_ties], ids=lambda kind: kind.__name__)
def test_values_and_gradients(kind, seed):
    import cupy

    made = kind.program(seed, "f4" if seed % 4 == 3 else "f8")
    try:
        programs.check(made, seed, cupy.asarray, cupy.asnumpy)
    except Exception as error:
        raise AssertionError(str(made)) from error
