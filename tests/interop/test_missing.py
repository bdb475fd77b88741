"""Clients that are not installed are named by the error; nothing loads them before they are used."""

import importlib
import subprocess
import sys

import pytest

import vecdist.interop

MODULES = {  # what each adapter imports of its client
    "arviz": ["arviz"],
    "jax": ["jax"],
    "mici": ["mici"],
    "nutpie": ["nutpie", "nutpie.compiled_pyfunc"],
    "pymc": ["pytensor", "pytensor.graph", "pytensor.tensor"],
    "torch": ["torch"],
}


def test_every_adapter_is_known():
    assert sorted([*MODULES, "nested"]) == vecdist.interop.__all__


@pytest.mark.parametrize("name", MODULES)
def test_a_missing_client_is_named(name, monkeypatch):
    for module in MODULES[name]:
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, f"vecdist.interop.{name}", raising=False)
    monkeypatch.delitem(vars(vecdist.interop), name, raising=False)
    package = MODULES[name][0]
    with pytest.raises(ImportError, match=rf'{package} is not installed: pip install "vecdist\[clients\]"') as caught:
        getattr(vecdist.interop, name)
    assert caught.value.name == package


def test_what_a_client_lacks_itself_is_not_taken_for_the_client(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import missing_part_of_it")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="missing_part_of_it"):
        vecdist.interop.client("half_installed")


def test_there_are_no_others():
    with pytest.raises(AttributeError, match="no attribute 'stan'"):
        _ = vecdist.interop.stan
    with pytest.raises(ImportError):
        importlib.import_module("vecdist.interop.stan")


def test_nothing_is_loaded_before_it_is_used():
    code = "import sys, vecdist.interop; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120)
    names = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert names.isdisjoint({"arviz", "jax", "mici", "numba", "nutpie", "pymc", "pytensor", "scipy", "torch"})
