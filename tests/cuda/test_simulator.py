"""Generated CUDA code runs, thread by thread, in Numba's simulator, and finds what the interpreter does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from models_of_chains import MODELS
from simulated_cases import CASES, FLAGS


@pytest.fixture(scope="module")
def simulator():
    """The process that runs cases: the simulator must be chosen before Numba is imported."""
    here = Path(__file__).parent
    paths = os.pathsep.join(map(str, (here, here.parent, *filter(None, sys.path))))
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(here / "simulate.py")],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:
        yield process
        process.stdin.close()


WITH_CALLS = {42005, 42008, 42010}  # with calls between kernels, of sorts and factors
RANDOM = [f"random model {seed}" for seed in range(16)] + [f"random loops {seed}" for seed in range(8)]
RANDOM += [f"random layers {seed}" for seed in range(12)] + [f"random many {seed}" for seed in (0, 1, 4, 7, 8, 11)]
RANDOM += [f"random {kind} {seed}" for kind in ("likelihoods", "matrices") for seed in range(100, 110)]
RANDOM += [f"random tensors {seed}" for seed in range(14)] + [f"random axes {seed}" for seed in range(40)]
RANDOM += [f"random recurrence {seed}" for seed in range(42000, 42017) if seed not in WITH_CALLS]
RANDOM += [f"many chains: {name}" for name in MODELS]
RANDOM += [f"random program {seed}" for seed in (3, 5, 6)] + [f"random arrays {seed}" for seed in range(1000, 1024)]
RANDOM += [f"random ties {seed}" for seed in range(24)]


DEVICE = [f"device function {name}" for name in ("schools", "regression", "recurrence", *range(6))]


@pytest.mark.parametrize("name", [*CASES, *FLAGS, *RANDOM, *DEVICE])
def test_simulated_kernels(simulator, name):
    print(name, file=simulator.stdin, flush=True)
    answer = simulator.stdout.readline()
    assert answer, "the simulator ended"
    complaint = json.loads(answer)
    if complaint:
        pytest.fail(complaint, pytrace=False)
