"""What importing vecdist loads: NumPy, and nothing heavier."""

import subprocess
import sys

HEAVY = ("cupy", "cuda", "dask", "jax", "llvmlite", "matplotlib", "numba", "pandas", "scipy", "torch")


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def loaded(statement: str) -> set[str]:
    return set(python(f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})").split())


def test_import_loads_nothing_heavy():
    assert loaded("import vecdist").isdisjoint(HEAVY)


def test_building_a_density_loads_nothing_heavy():
    build = """
import numpy as np, vecdist
from vecdist.distributions import Gamma
density = vecdist.logpdf(vecdist.Vectorize(Gamma, (np.ones((3, 1)), 2.0)), np.ones(4)).sum(axis=1)
assert density.shape == (3,)
"""
    assert loaded(build).isdisjoint(HEAVY)


def test_import_time_is_printed():
    """The time is for the reader: a shared machine gives no figure to assert."""
    clock = "import time, numpy; t = time.perf_counter(); import vecdist; print(time.perf_counter() - t)"
    seconds = min(float(python(clock)) for _ in range(3))
    print(f"import vecdist: {1e3 * seconds:.0f} ms beyond NumPy")
    assert seconds > 0
