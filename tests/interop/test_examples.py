"""The examples of the adapters."""

import doctest
import importlib

import pytest
from clients import CLIENT

import vecdist.interop

pytestmark = CLIENT


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", ["", *(f".{name}" for name in vecdist.interop.__all__)])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"vecdist.interop{name}"))
    assert found.attempted and not found.failed
