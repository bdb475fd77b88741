"""The examples of the README and of the guide to speed run, each page in a process, and give what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
GUIDE = README.with_name("PERFORMANCE.md")
CHECKED = re.compile(r"^(?P<expression>\S.*?)\s+# => (?P<value>.*)$", re.MULTILINE)


def blocks(page: Path = README) -> list[str]:
    """The Python in a page, each ``expression  # => value`` made an assertion; ``...`` stands for more digits."""
    found = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [CHECKED.sub(_assertion, block) for block in found]


def _assertion(match: re.Match) -> str:
    expression, value = match["expression"], match["value"]
    if value.endswith("..."):
        return f"assert repr(({expression})).startswith({value[:-3]!r}), repr(({expression}))"
    return f"assert repr(({expression})) == {value!r}, repr(({expression}))"


WITHOUT_A_COMPILER = "import uncompiled; inside = uncompiled.uncompiled(); inside.__enter__()\n"


@pytest.mark.parametrize("page", [README, GUIDE], ids=lambda page: page.stem)
def test_the_examples_give_what_they_say(tmp_path, page):
    script = tmp_path / "page.py"
    script.write_text(WITHOUT_A_COMPILER + "\n".join(blocks(page)), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        check=False, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(README.parent), str(Path(__file__).parent)))},
    )
    assert run.returncode == 0, run.stderr


def test_results_are_checked():
    assert sum(block.count("assert repr(") for block in blocks()) >= 8


def test_the_two_lines_are_marked():
    lines = dict(re.findall(r"<!-- (\w+) line -->\n```sh\n(.*)\n```", README.read_text(encoding="utf-8")))
    assert lines == {
        "main": "python -m pip install -e . && python -m vecdist",
        "test": 'python -m pip install -e ".[test]" && python -m pytest',
    }
