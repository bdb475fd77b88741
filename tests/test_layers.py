"""The architecture: imports point down only, and nothing grows too long to be read."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import vecdist

PACKAGE = Path(vecdist.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up, in the order in which a value flows.  A package is one layer, whose modules may import each other.
LAYERS = [
    "names", "graph", "primitives", "constraints", "special", "distributions",
    "passes", "kernel", "codegen", "runtime",
    "lazy", "functions", "linalg", "random", "verbs", "multivariate", "wrappers", "timeseries", "gp", "signal",
    "parameters", "model", "device", "samplers", "interop", "inspect",
    "__init__",
    "datasets", "doctor", "__main__",
]

# Imports that point up, each made inside a function, and why.
EXCEPTIONS = {
    ("lazy", "inspect"): "how an array is drawn is a matter of those who look at it",
    ("primitives", "lazy"): "a primitive is called on arrays, too, and then gives a lazy one",
    ("primitives", "special"): "special functions are found where they were before they had a package of their own",
}

LONGEST_FILE = 400
LONGEST_FUNCTION = 40


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """The layers that a file imports from, with the statements; imports inside functions count."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            of_package = [a.name if a.name in LAYERS else "__init__" for a in node.names]
            names = [f"vecdist.{n}" for n in of_package] if node.module == "vecdist" else [node.module]
        else:
            assert not isinstance(node, ast.ImportFrom), f"{path.name}:{node.lineno}: imports name the whole module"
            continue
        for name in names:
            package, _, inner = name.partition(".")
            if package == "vecdist":
                yield inner.partition(".")[0] or "__init__", node


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_every_module_has_its_layer():
    assert sorted({layer_of(path) for path in FILES}) == sorted(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports_point_down(path):
    own = layer_of(path)
    for target, statement in imports(path):
        if (own, target) in EXCEPTIONS:
            assert statement.col_offset > 0, f"line {statement.lineno}: the exception holds inside functions"
        else:
            assert LAYERS.index(target) <= LAYERS.index(own), f"line {statement.lineno}: {own} imports {target}"


def test_every_exception_is_needed():
    used = {(layer_of(path), target) for path in FILES for target, _ in imports(path)}
    assert set(EXCEPTIONS) <= used


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_function_is_too_long(path):
    functions = [
        node
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = [(function.name, function.end_lineno - function.lineno + 1) for function in functions]
    assert [each for each in lengths if each[1] > LONGEST_FUNCTION] == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_is_not_there_is_named(path):
    """No error of what is missing is without a word."""
    raised = [node.exc for node in ast.walk(tree(path)) if isinstance(node, ast.Raise)]
    assert "NotImplementedError" not in [error.id for error in raised if isinstance(error, ast.Name)]
