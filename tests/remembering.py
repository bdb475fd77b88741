"""Routines, called in Python, that share their work: what several of them take a number of is computed once.

A tail and each of its slopes is one of the numbers of an integral, say, and they are all wanted at the same places.
"""

import contextlib
import functools
import importlib
import pkgutil
import sys
from collections import Counter
from types import FunctionType

from vecdist import special
from vecdist.primitives import PRIMITIVES

MOST = 50_000  # of a function, some megabytes


@contextlib.contextmanager
def remembering():
    """Inside, what routines share is remembered; nothing may be compiled, unless ``as_written``."""
    try:
        _give_all(recalled)
        yield
    finally:
        _give_all(lambda function: function)


@contextlib.contextmanager
def as_written():
    """Inside, while routines remember, they are as they are written, and may be compiled."""
    try:
        _give_all(lambda function: function)
        yield
    finally:
        _give_all(recalled)


def _give_all(kind):
    for function, modules in shared().items():
        _give(modules, function.__name__, kind(function))


def _give(modules, name, function):
    for module in modules:
        setattr(module, name, function)


@functools.cache
def shared():
    """The functions that give several numbers to several routines each, and the modules that know them by name."""
    for each in pkgutil.iter_modules(special.__path__):
        importlib.import_module(f"{special.__name__}.{each.name}")
    routines = [entry.routine for entry in PRIMITIVES.values() if entry.routine]
    asked = Counter(routine.__globals__.get(name) for routine in routines for name in set(routine.__code__.co_names))
    several = [each for each, routines in asked.items() if routines > 1 and isinstance(each, FunctionType)]
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{special.__name__}.")]
    return {
        function: [module for module in modules if vars(module).get(function.__name__) is function]
        for function in several if function.__annotations__["return"].startswith("tuple")
    }


@functools.cache
def recalled(function):
    """A function that computes nothing twice, whoever asks; zeros of both signs, which are equal, are two numbers."""
    known = {}

    def recall(*numbers):
        key = tuple(map(repr, numbers)) if 0.0 in numbers else numbers
        found = known.get(key)
        if found is None:
            if len(known) == MOST:
                known.clear()
            found = known[key] = function(*numbers)
        return found

    return recall
