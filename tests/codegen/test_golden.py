"""Generated source, as text: what changes in it is seen in review.

After a change that is meant, ``VECDIST_REGENERATE=1 python -m pytest tests/codegen`` writes the texts anew.
"""

import os
from pathlib import Path

import pytest
from kernels import CASES, kernel_of

from vecdist.codegen.cpu import render as cpu
from vecdist.codegen.cuda import render as cuda

GOLDEN = Path(__file__).parent / "golden"
DIALECTS = {"cpu": cpu, "cuda": cuda}
EVERY = [(dialect, name) for dialect in DIALECTS for name in CASES]


@pytest.mark.parametrize(("dialect", "name"), EVERY)
def test_golden_source(dialect, name):
    text = DIALECTS[dialect].render(kernel_of(name)).text
    path = GOLDEN / f"{dialect}_{name}.py"
    if os.environ.get("VECDIST_REGENERATE"):
        path.write_text(text)
    assert path.read_text() == text, f"{path.name} is out of date; {__doc__.splitlines()[2]}"


def test_no_golden_source_is_left_over():
    assert {path.stem for path in GOLDEN.glob("*.py")} == {f"{dialect}_{name}" for dialect, name in EVERY}
