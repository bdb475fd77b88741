"""NAMES.md says which distributions of Stan, NumPyro and SciPy take other arguments, or in another order, than here."""

import inspect
import os
import re
from pathlib import Path

import pytest

from vecdist import from_stan
from vecdist.distributions import FAMILIES, Pareto
from vecdist.interop.converters import NUMPYRO, SCIPY, STAN
from vecdist.multivariate import MULTIVARIATE

PATH = Path(__file__).parent.parent.parent / "NAMES.md"
COMMAND = "VECDIST_REGENERATE=1 python -m pytest tests/interop/test_names_elsewhere.py"
HEAD = f"""# Distributions by their names in Stan, NumPyro and SciPy

Arguments that are given by name mean what they say. By position they stand in the order of the first way to write a
family, which its docstring says: `Pareto(shape, scale)`. Below is all that takes other arguments elsewhere, or the same
in another order; what is not here is written alike. `vecdist.from_stan("pareto", y_min, alpha)`, `from_numpyro`,
`from_scipy` and `from_pymc` translate. SciPy's `loc` and `scale` are left out where they make a `vecdist.affine`.
Written from the tables of these functions by `{COMMAND}`.
"""


class Word:
    """A parameter as it is written, and what is made of it."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    def __neg__(self):
        return Word(f"-{self}")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return Word(f"np.{ufunc.__name__}({', '.join(map(repr, inputs))})")


def written(sign, swapped=False):
    return lambda self, other: Word(f"({other!r} {sign} {self!r})" if swapped else f"({self!r} {sign} {other!r})")


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}.items():
    setattr(Word, f"__{_name}__", written(_sign))
    setattr(Word, f"__r{_name}__", written(_sign, swapped=True))


def translated(way):
    """The names of arguments, and what is made of them; without a shift and a scale where these are no family's own."""
    for moved in ((), ("loc",), ("loc", "scale")):
        names = [name for name in inspect.signature(way).parameters if name not in moved]
        found = way(**{name: Word(name) for name in names})
        if type(found) in FAMILIES.values():
            break
    return names, found


def rows(table):
    """Each way to write a distribution that is not written alike here: there, and here."""
    for name, ways in table.items():
        for way in (ways,) if callable(ways) else ways:
            names, found = translated(way)
            try:
                alike = repr(type(found)(*map(Word, names))) == repr(found)
            except TypeError:
                alike = False
            if not alike:
                yield f"`{name}({', '.join(names)})`", f"`{found!r}`"


def text():
    parts = [HEAD]
    for system, table in (("Stan", STAN), ("NumPyro", NUMPYRO), ("SciPy", SCIPY)):
        lines = [f"| {there} | {here} |" for there, here in sorted(rows(table))]
        parts.append("\n".join([f"| {system} | vecdist |", "| --- | --- |", *lines]) + "\n")
    return "\n".join(parts)


def test_the_page_is_current():
    if os.environ.get("VECDIST_REGENERATE"):
        PATH.write_text(text(), encoding="utf-8")
    assert PATH.read_text(encoding="utf-8") == text(), f"NAMES.md is out of date; {COMMAND} writes it anew"


def test_what_is_in_another_order_is_there():
    page = PATH.read_text(encoding="utf-8")
    assert "| `pareto(y_min, alpha)` | `Pareto(shape=alpha, scale=y_min)` |" in page
    assert "`normal(" not in page  # which is written alike
    assert repr(from_stan("pareto", 2.0, 3.0)) == repr(Pareto(3.0, 2.0))


@pytest.mark.parametrize("family", {**FAMILIES, **MULTIVARIATE}.values(), ids=lambda family: family.__name__)
def test_a_docstring_says_the_order_of_arguments(family):
    first = re.search(rf"``{family.__name__}\(([^)]*)\)``", family.__doc__)
    assert first and [each.partition("=")[0] for each in first[1].split(", ")] == list(family.parametrisations[0].names)
