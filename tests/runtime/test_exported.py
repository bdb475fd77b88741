"""Options of LLVM that hold while machine code of long modules is made, and no longer."""

import numpy as np
import pytest

from vecdist import compile as compile_function
from vecdist.runtime.cpu import exported


@pytest.fixture
def options(monkeypatch, tmp_path):
    """Those that were set, in order, while nothing is found in the folder of kernels."""
    found, plain = [], exported.binding.set_option

    def set_option(name, option):
        found.append(option)
        plain(name, option)

    monkeypatch.setattr(exported.binding, "set_option", set_option)
    monkeypatch.setenv("VECDIST_CACHE_DIR", str(tmp_path))
    return found


def first_value(function):
    """Of a function that nothing else in this process is made of."""
    x = np.arange(1.0, 9.0)
    f = compile_function(lambda x: (function(0.5 * x) * np.arctan(x + 3.0)).sum())
    np.testing.assert_allclose(f(x), (function(0.5 * x) * np.arctan(x + 3.0)).sum())


def test_a_short_module_has_none(options):
    first_value(np.cosh)
    assert options == []


def test_a_long_module(options, monkeypatch):
    monkeypatch.setattr(exported, "LONG", 0)
    first_value(np.arcsinh)
    assert options and options == ["-disable-lsr=true", "-disable-lsr=false"] * (len(options) // 2)


def test_another_llvm(options, monkeypatch):
    monkeypatch.setattr(exported, "LONG", 0)
    monkeypatch.setattr(exported, "KNOWING", range(0))
    first_value(np.cbrt)
    assert options == []


def test_what_fails_leaves_none(options):
    with pytest.raises(ZeroDivisionError), exported._without_lsr(exported.LONG + 1):
        raise ZeroDivisionError
    assert options == ["-disable-lsr=true", "-disable-lsr=false"]
