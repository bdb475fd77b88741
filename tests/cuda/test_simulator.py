"""Generated CUDA code runs, thread by thread, in Numba's simulator, and finds what the interpreter does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulate import CASES, FLAGS


@pytest.fixture(scope="module")
def complaints():
    """What is wrong with each case; the simulator must be chosen before Numba is imported, so in another process."""
    here = Path(__file__).parent
    paths = os.pathsep.join(map(str, (here, here.parent, *filter(None, sys.path))))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(here / "simulate.py")],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=600, check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [*CASES, *FLAGS])
def test_simulated_kernels(complaints, name):
    if complaints[name]:
        pytest.fail(complaints[name], pytrace=False)
