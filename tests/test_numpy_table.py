"""NUMPY.md says which functions of NumPy have a lazy form; all others are refused by name."""

import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from array_api import CALLS, REFUSED
from interpreting import nothing_computed

from vecdist import LazyArray, lazy
from vecdist.lazy import fourier, linear_algebra, numpy_functions

PATH = Path(__file__).parent.parent / "NUMPY.md"
COMMAND = "VECDIST_REGENERATE=1 python -m pytest tests/test_numpy_table.py"
VERSION = ".".join(np.__version__.split(".")[:2])
HEAD = f"""# NumPy's functions of lazy arrays

What of NumPy {VERSION} takes a lazy array and gives another, without computing it, and what is refused with a
`TypeError` that names the function. Derivatives of any order follow; those of places, counts and roundings are 0.
Ufuncs of two numbers have `reduce`, `accumulate` and `outer`, and `np.add` has `reduceat`.
`allclose` and `array_equal` answer at once. `x.__array_namespace__()` is NumPy's with what the array API adds.
Written by `{COMMAND}`.
"""
MODULES = {"np": (np, numpy_functions.FUNCTIONS), "np.linalg": (np.linalg, linear_algebra.FUNCTIONS),
           "np.fft": (np.fft, fourier.FUNCTIONS)}
X = np.ones((2, 2))


def dispatched(module) -> dict[str, Callable]:
    """The public functions of a module of which arrays of other libraries have their own form."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: each for name, each in found.items() if hasattr(each, "_implementation")}


def ufuncs() -> dict[str, np.ufunc]:
    return {name: each for name in np.__all__ if isinstance(each := getattr(np, name), np.ufunc)}


def is_lazy(ufunc) -> bool:
    """Whether a ufunc of floats, or else of integers, has a lazy form."""
    for dtype in ("f8", "i8"):
        try:
            found = ufunc(*[lazy(X.astype(dtype))] * ufunc.nin)
        except TypeError:
            continue
        return all(isinstance(each, LazyArray) for each in (found if isinstance(found, tuple) else (found,)))
    return False


def methods() -> dict[str, Callable]:
    return {name: each for name in dir(np.ndarray) if callable(each := getattr(np.ndarray, name)) and name[0] != "_"}


def section(title: str, names: Iterable[str], have: Iterable[str], refused: str = "Refused") -> str:
    """A part of the page: the names that are there, and those that are not."""
    names, have = sorted(names), set(have)
    there, missing = [name for name in names if name in have], [name for name in names if name not in have]
    lines = [f"## {title}: {len(there)} of {len(names)}"]
    for word, listed in (("Lazy", there), (refused, missing)):
        if listed:
            lines.append(textwrap.fill(f"{word}: {', '.join(f'`{name}`' for name in listed)}.", 120))
    return "\n\n".join(lines) + "\n"


def text() -> str:
    every = {name: dispatched(module) for name, (module, _) in MODULES.items()}
    lazily = {name: [alias for alias, each in functions.items() if each.__name__ in MODULES[name][1]]
              for name, functions in every.items()}
    return "\n".join([
        HEAD,
        section("Ufuncs", ufuncs(), [name for name, each in ufuncs().items() if is_lazy(each)]),
        *(section(f"Functions of `{name}`", functions, lazily[name]) for name, functions in every.items()),
        section("Methods", methods(), dir(LazyArray), "Not there"),
        section("Functions of arrays in the Python array API standard 2024.12", {**CALLS, **REFUSED}, CALLS),
    ])


def test_the_page_is_current():
    if os.environ.get("VECDIST_REGENERATE"):
        PATH.write_text(text(), encoding="utf-8")
    page = PATH.read_text(encoding="utf-8")
    if f"What of NumPy {VERSION} " not in page:
        pytest.skip(f"the page is of another NumPy than {VERSION}, whose functions are others")
    assert page == text(), f"NUMPY.md is out of date; {COMMAND} writes it anew"


@pytest.mark.parametrize("module", MODULES)
def test_every_lazy_form_is_on_the_page(module):
    """No form is of what NumPy does not have, in the version of the page, or does not ask arrays for."""
    page = PATH.read_text(encoding="utf-8").partition(f"## Functions of `{module}`")[2].partition("Refused")[0]
    assert [name for name in MODULES[module][1] if f"`{name}`" not in page] == []


@pytest.mark.parametrize("module", MODULES)
def test_every_other_function_is_refused_by_name(module):
    known = MODULES[module][1]
    with nothing_computed():
        for name, function in dispatched(MODULES[module][0]).items():
            if function.__name__ not in known:
                with pytest.raises(TypeError, match=rf"{module}\.{function.__name__} has no lazy form"):
                    lazy(X).__array_function__(function, (LazyArray,), (lazy(X),), {})
                assert name not in known


def test_every_other_ufunc_is_refused_by_name():
    with nothing_computed():
        for ufunc in ufuncs().values():
            if not is_lazy(ufunc):
                for dtype in ("f8", "i8", "?"):
                    with pytest.raises(TypeError, match=ufunc.__name__):
                        ufunc(*[lazy(X.astype(dtype))] * ufunc.nin)
