"""What is written: where the names of packages are, from the files of families, and what editors read of them."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import vecdist.distributions
import vecdist.multivariate
import vecdist.primitives
import vecdist.special
from vecdist.distributions import FAMILIES
from vecdist.distributions.base import Parametrisation, Parametrised
from vecdist.multivariate import MULTIVARIATE
from vecdist.names import load

COMMAND = "VECDIST_REGENERATE=1 python -m pytest tests/annotations"
PLAIN = (vecdist, vecdist.primitives, vecdist.special)
INNER = ["distributions", "linalg", "parameters", "random"]  # modules that nobody need import by name
WRITTEN = f"# Written from the files of this folder by ``{COMMAND}``.\n"

Register = Mapping[str, type[Parametrised]]
Names = Mapping[str, Sequence[str]]


def texts() -> dict[Path, str]:
    """What the files with such lines are to be, by path."""
    one, many = vecdist.distributions, vecdist.multivariate
    load(one.__name__)
    load(many.__name__)
    of_one = {f"{one.__name__}.base": ["FAMILIES", "Distribution", "parametrisation"]}
    of_many = {f"{many.__name__}.base": ["MULTIVARIATE", "Multivariate"]}
    vectors = {many.__name__: sorted(MULTIVARIATE)}
    return {
        source(one): with_modules(one, of_one | modules(FAMILIES) | vectors),
        source(many): with_modules(many, of_many | modules(MULTIVARIATE)),
        source(one).with_suffix(".pyi"): stub(FAMILIES, of_one | vectors),
        source(many).with_suffix(".pyi"): stub(MULTIVARIATE, of_many),
        **{source(package).with_suffix(".pyi"): plain_stub(package) for package in PLAIN},
    }


def source(package: ModuleType) -> Path:
    return Path(package.__path__[0], "__init__.py")


def modules(register: Register) -> dict[str, list[str]]:
    """The names of the families of each module."""
    found: dict[str, list[str]] = {}
    for name in sorted(register):
        found.setdefault(register[name].__module__, []).append(name)
    return found


def with_modules(package: ModuleType, names: Names) -> str:
    """The source of a package with the table that says where ``names`` are: from the mark to the next blank line."""
    before, _, rest = source(package).read_text(encoding="utf-8").partition(WRITTEN)
    _, _, after = rest.partition("\n\n")
    rows = sorted(f'    "{name}": "{module}",' for module, given in names.items() for name in given)
    return "\n".join([f"{before}{WRITTEN}_WHERE = {{", *rows, "}\n", after])


def plain_stub(package: ModuleType) -> str:
    """A stub of a package whose names are found when they are asked for."""
    names: dict[str, list[str]] = {package.__name__: INNER} if package is vecdist else {}
    for name, module in package._WHERE.items():
        names.setdefault(module, []).append(name)
    version = ["__version__: str\n"] if hasattr(package, "__version__") else []
    title, _, _ = inspect.getdoc(package).partition("\n")
    lines = f"{WRITTEN}\n{imports(names, '{0} as {0}')}"
    return "\n\n".join([f'"""{title}"""', lines, *version, listed(package.__all__)])


def listed(names: Iterable[str]) -> str:
    return "".join(["__all__ = [\n", *(f'    "{name}",\n' for name in sorted(names)), "]\n"])


def imports(names: Names, spelling: str = "{0}") -> str:
    each = {module: ", ".join(map(spelling.format, names[module])) for module in sorted(names)}
    return "".join(f"from {module} import {given}\n" for module, given in each.items())


def stub(register: Register, others: Names) -> str:
    """A stub: each family with its ways of writing, and whatever else the package has."""
    public = [*register, *(name for names in others.values() for name in names)]
    parts = [
        '"""Families and their signatures, for editors and type checkers."""',
        f"{WRITTEN}\nfrom typing import overload",
        f"from vecdist.lazy.array import Operand\n{imports(others)}{imports(modules(register), '{0} as _{0}')}",
        listed(public),
    ]
    return "\n\n".join([*parts, *(family_lines(register[name]) for name in sorted(register))])


def family_lines(family: type[Parametrised]) -> str:
    """A family: what it is, and how it is written, overloaded where there are several ways."""
    name, described = family.__name__, inspect.getdoc(family).partition("\n")[0]
    several = len(family.parametrisations) > 1
    lines = [f"class {name}(_{name}):", f'    """{described}"""']
    for place, way in enumerate(family.parametrisations):
        lines += ["", *["    @overload"] * several, constructor(way, by_position=not place)]
    return "\n".join([*lines, ""])


def constructor(way: Parametrisation, by_position: bool) -> str:
    given = [f"{name}: Operand" + (f" = {way.defaults[name]!r}" if name in way.defaults else "") for name in way.names]
    return f"    def __init__({', '.join(['self', *([] if by_position else ['*']), *given])}) -> None: ..."
