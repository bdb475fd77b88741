"""What importing vecdist loads: NumPy, and nothing heavier."""

import subprocess
import sys
from pathlib import Path

import pytest

import vecdist

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


def test_a_family_is_loaded_when_it_is_named():
    listing = "import sys; print(*(name for name in sys.modules if name.startswith('vecdist.')))"
    assert python(f"import vecdist; {listing}").split() == ["vecdist.lazy", "vecdist.names"]
    named = python(f"from vecdist.distributions import Laplace; {listing}").split()
    files = {file.stem for file in Path(vecdist.distributions.__path__[0]).glob("*.py")}
    found = {name.rpartition(".")[2] for name in named if name.startswith("vecdist.distributions.")}
    assert "laplace" in found and len(found & files) < 8


def test_whole_tables_are_shown():
    """All modules together have no primitive and no family that the public tables lack."""
    code = """
import importlib, pkgutil
from vecdist.distributions import FAMILIES
from vecdist.multivariate import MULTIVARIATE
from vecdist.primitives import PRIMITIVES
before = len(FAMILIES), len(MULTIVARIATE), len(PRIMITIVES)
import vecdist
for each in pkgutil.walk_packages(vecdist.__path__, "vecdist."):
    if not each.name.startswith(("vecdist.interop.", "vecdist.runtime.cuda", "vecdist.__main__")):
        importlib.import_module(each.name)
print(before == (len(FAMILIES), len(MULTIVARIATE), len(PRIMITIVES)))
"""
    assert python(code) == "True\n"


def test_a_pickled_expression_brings_what_it_is_made_of(tmp_path):
    code = "import pickle; from vecdist.runtime import pipeline; from vecdist.passes.bind import bind\n"
    make = "import vecdist; from vecdist.special import gammainc; node = bind([gammainc(2.0, [1.0, 2.0]).node]).roots\n"
    file = tmp_path / "node"
    python(f"{code}{make}pickle.dump(node, open({str(file)!r}, 'wb'))")
    read = f"(node,) = pickle.load(open({str(file)!r}, 'rb'))\n"
    expanded = "from vecdist.primitives.table import PRIMITIVES; print(node.op in PRIMITIVES)"
    assert python(f"{code}{read}{expanded}") == "True\n"


def test_what_scipy_calls_is_found():
    pytest.importorskip("scipy")
    code = "import vecdist, scipy.special; print(float(scipy.special.gammainc(2.0, vecdist.lazy(0.0)).compute()))"
    assert python(code) == "0.0\n"


def test_names_are_found_where_they_were():
    for module in ("vecdist", "vecdist.distributions", "vecdist.multivariate", "vecdist.primitives", "vecdist.special"):
        code = f"import {module} as m; print(all(getattr(m, name) is not None for name in [*m.__all__, *dir(m)]))"
        assert python(code) == "True\n"
    assert python("import vecdist; print(vecdist.random.bits.__name__, vecdist.linalg.__name__)").startswith("bits ")
    assert python("import vecdist.lazy.array; print(vecdist.lazy.__name__)") == "lazy\n"


@pytest.mark.parametrize("module", [vecdist, vecdist.distributions, vecdist.special])
def test_a_wrong_name_is_an_error_of_attributes(module):
    with pytest.raises(AttributeError, match=rf"module '{module.__name__}' has no attribute 'Gama'"):
        module.Gama  # noqa: B018
    with pytest.raises(ImportError, match="Gama"):
        exec(f"from {module.__name__} import Gama")


def test_a_name_of_ours_is_taken_before_it_is_loaded():
    """Otherwise the module that defines it could not be loaded later."""
    code = "from vecdist.primitives.table import primitive; primitive('gammainc', expand=lambda x: x)"
    with pytest.raises(subprocess.CalledProcessError) as failed:
        python(code)
    assert "in the table already, by vecdist.special.incomplete_gamma" in failed.value.stderr


def test_threads_ask_for_names_at_once():
    code = """
import sys, threading
import vecdist, vecdist.distributions, vecdist.special
sys.setswitchinterval(1e-6)
packages = (vecdist, vecdist.distributions, vecdist.special)
names = [(package, name) for package in packages for name in package.__all__]
begin, found = threading.Barrier(8), [[] for _ in range(8)]
def ask(number):
    begin.wait()
    for package, name in names[number::8] + names[::8]:
        found[number].append(getattr(package, name) is getattr(package, name))
threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(all(all(each) for each in found), sum(map(len, found)) == len(names) + 8 * len(names[::8]))
"""
    assert python(code) == "True True\n"
