"""What a type checker says of programs that use this package: nothing of right lines, and what is wrong of others."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import vecdist
from vecdist.distributions import FAMILIES
from vecdist.multivariate import MULTIVARIATE
from vecdist.primitives import PRIMITIVES

CODE = Path(__file__).parent / "user_code"
RIGHT, WRONG = CODE / "right.py", CODE / "wrong.py"
MARKED = re.compile(r"(.*\S)  # error: (\w+)")


def lines(family):
    """Calls of the constructor of a family, right and wrong, by position, by name and by both."""
    first, *others = (way.names for way in family.parametrisations)
    names = dict.fromkeys(name for way in (first, *others) for name in way)
    for way in (first, *others):
        chosen = [f"{name}=0.5" for name in way]
        yield from (chosen, chosen[1:], chosen[:-1], [f"{way[0]}_=0.5", *chosen[1:]], [*chosen, "unknown=0.5"])
        yield from ([*chosen, f"{name}=0.5"] for name in names if name not in way)
    for count in range(len(first) + 2):
        yield ["0.5"] * count
    for name in names:
        yield ["0.5", f"{name}=0.5"]
        yield [*["0.5"] * (len(first) - 1), f"{name}=0.5"]


def calls():
    every = {**FAMILIES, **MULTIVARIATE}
    given = (f"{name}({', '.join(arguments)})" for name, family in every.items() for arguments in lines(family))
    return [*dict.fromkeys(given)]


def fails(call):
    try:
        eval(call, {**FAMILIES, **MULTIVARIATE})
    except TypeError:
        return True
    return False


def found(folder):
    """The rules that pyright finds broken, by file and line."""
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "reportMissingModuleSource": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    package = Path(vecdist.__file__).parents[1]
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    broken: dict[str, dict[int, str]] = {}
    for each in json.loads(run.stdout)["generalDiagnostics"]:
        of_file = broken.setdefault(Path(each["file"]).name, {})
        of_file[each["range"]["start"]["line"]] = each.get("rule") or each["message"]
    return broken


def marked(path):
    text = path.read_text(encoding="utf-8").splitlines()
    return {number: match for number, line in enumerate(text) if (match := MARKED.fullmatch(line))}


def test_what_a_type_checker_says(tmp_path):
    """Nothing of what is right; of what is wrong, the rule; of a call of a family, what Python says of it."""
    every = calls()
    for path in (RIGHT, WRONG):
        shutil.copy(path, tmp_path)
    imported = f"from vecdist.distributions import {', '.join({**FAMILIES, **MULTIVARIATE})}"
    (tmp_path / "calls.py").write_text("\n".join([imported, *every]), encoding="utf-8")
    wrong = {number for number, call in enumerate(every, 1) if fails(call)}
    broken = found(tmp_path)
    assert broken.pop("right.py", {}) == {}
    assert broken.pop("wrong.py") == {number: match[2] for number, match in marked(WRONG).items()}
    said = broken.pop("calls.py")
    assert {every[number - 1] for number in said.keys() ^ wrong} == set()
    assert len(every) > len(wrong) > len(every) // 2
    assert broken == {}


def test_what_is_right_runs(uncompiled):
    with mock.patch.dict(PRIMITIVES):  # what users define is theirs
        runpy.run_path(str(RIGHT))


@pytest.mark.parametrize("number", marked(WRONG), ids=lambda number: marked(WRONG)[number][1])
def test_what_is_wrong_raises(number):
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    given = {}
    exec("\n".join(line for line in lines if not MARKED.fullmatch(line)), given)
    with pytest.raises((AttributeError, ImportError, TypeError, ValueError)):
        exec(marked(WRONG)[number][1], given)
