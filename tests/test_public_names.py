"""What is public is listed, described and shown by example."""

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import vecdist
import vecdist.datasets
import vecdist.distributions
import vecdist.linalg
import vecdist.parameters
import vecdist.random
import vecdist.samplers
from vecdist.distributions import FAMILIES
from vecdist.multivariate import MULTIVARIATE

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))

PUBLIC = {
    **{f"vecdist.{name}": getattr(vecdist, name) for name in vecdist.__all__},
    **{f"vecdist.datasets.{name}": getattr(vecdist.datasets, name) for name in vecdist.datasets.__all__},
    **{f"vecdist.distributions.{name}": family for name, family in {**FAMILIES, **MULTIVARIATE}.items()},
    **{f"vecdist.linalg.{name}": getattr(vecdist.linalg, name) for name in vecdist.linalg.__all__},
    **{f"vecdist.parameters.{name}": getattr(vecdist.parameters, name) for name in vecdist.parameters.__all__},
    **{f"vecdist.random.{name}": getattr(vecdist.random, name) for name in vecdist.random.__all__},
    **{f"vecdist.samplers.{name}": getattr(vecdist.samplers, name) for name in vecdist.samplers.__all__},
}
# Public, and shown by no example of its own.
UNSHOWN = {
    "vecdist.Compiled": "what compile gives, whose example shows it",
    "vecdist.InvalidParameter": "an error",
    "vecdist.datasets.CoalDisasters": "what coal_disasters gives",
    "vecdist.datasets.EightSchools": "what eight_schools gives",
    "vecdist.samplers.Density": "what samplers take, whose examples show it",
    "vecdist.samplers.Draws": "what hmc and chees give",
    "vecdist.samplers.Laplace": "what laplace gives",
    "vecdist.samplers.Mode": "what find_map gives",
    "vecdist.samplers.StochasticDraws": "what sgld and sghmc give",
}


def names(module: ModuleType) -> set[str]:
    """The names of a module that are public by their spelling, other than modules and those of this language."""
    found = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {
        name for name, value in found.items() if not isinstance(value, ModuleType) and name != "annotations"
    }


def test_all_lists_what_is_public():
    assert set(vecdist.__all__) == names(vecdist)


def test_all_is_sorted():
    assert vecdist.__all__ == sorted(vecdist.__all__)
    assert vecdist.datasets.__all__ == sorted(vecdist.datasets.__all__)


def test_families_are_public():
    assert set(FAMILIES) < set(vecdist.distributions.__all__)
    assert all(getattr(vecdist.distributions, name) is family for name, family in {**FAMILIES, **MULTIVARIATE}.items())


def test_families_of_users_are_theirs():
    """One that has the name of another takes nothing's place."""
    before = dict(FAMILIES)
    mine = type("Gamma", (FAMILIES["Gamma"],), {"__module__": "__main__"})
    vecdist.truncated(mine(2.0, 1.0), 0.5)
    assert before == FAMILIES


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_described(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    first = text.partition("\n")[0]
    assert first.endswith((".", ":")), f"a first line that is a sentence, not {first!r}"


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - set(UNSHOWN)))
def test_it_is_shown_by_example(name):
    of_its_own = ">>> " in (inspect.getdoc(PUBLIC[name]) or "")
    called_or_caught = rf"\b{name.rpartition('.')[2]}\(|except (vecdist\.)?{name.rpartition('.')[2]}\b"
    assert of_its_own or re.search(called_or_caught, EXAMPLES)


def test_the_list_of_unshown_names_is_current():
    assert set(UNSHOWN) <= set(PUBLIC)


KINDS = [vecdist.LazyArray, vecdist.Compiled, vecdist.LogDensity, vecdist.parameters.Parameter]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_methods_are_described(kind):
    public = {name: value for name, value in vars(kind).items() if not name.startswith("_")}
    members = {name for name, value in public.items() if callable(value) or isinstance(value, property)}
    assert {name for name in members if not inspect.getdoc(public[name])} == set()


def test_families_of_vectors_are_among_the_others() -> None:
    everything: dict[str, object] = {}
    exec("from vecdist.distributions import *", everything)
    assert {**FAMILIES, **MULTIVARIATE}.items() <= everything.items()
    assert {*FAMILIES, *MULTIVARIATE, "parametrisation"} <= {*dir(vecdist.distributions)}
