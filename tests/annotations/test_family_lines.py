"""What is written from the files of families is what stands there."""

import os

import pytest
from family_lines import COMMAND, texts

TEXTS = texts()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_lines_are_current(path):
    if os.environ.get("VECDIST_REGENERATE"):
        path.write_text(TEXTS[path], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == TEXTS[path], f"{path.name} is out of date; {COMMAND} writes it anew"
