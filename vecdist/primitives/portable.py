"""What a routine may be made of: words that compilers of every device know, so that none fails late on another's."""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

BUILD = {"BUILD_LIST": "list", "BUILD_SET": "set", "BUILD_MAP": "dict", "BUILD_CONST_KEY_MAP": "dict"}
MADE = {dis.opmap[each]: kind for each, kind in BUILD.items() if each in dis.opmap}  # not every Python has all of them
READ = {"LOAD_GLOBAL", "LOAD_DEREF"}
ARRAYS = ("numpy", "scipy", "cupy")
Words = Callable[[CodeType], Iterable[str]]


def check_routine(name: str, routine: Callable[..., float]) -> None:
    """Raise ``ValueError`` where the routine of primitive ``name`` would run on the CPU alone, or nowhere.

    It is made of numbers, functions of ``math``, ``abs``, ``min``, ``max``, tuples, and functions that are made of
    these.
    """
    problem = "is a lambda, whose statements nobody can read; write it with def"
    if getattr(routine, "__name__", "") == "<lambda>":
        raise ValueError(f"primitive {name!r}: its routine {problem}")
    for words in (_names, _words):  # the first is quick, and suspects more
        problem = next(_problems(routine, words, (), set()), None)
        if problem is None:
            return
    raise ValueError(f"primitive {name!r}: its routine {problem}")


def _problems(function: FunctionType, words: Words, outer: tuple[Any, ...], seen: set[Any]) -> Iterator[str]:
    """What a function, or one that it calls, does in vain; ``outer`` are those that called it."""
    seen.add(function)
    for code in _codes(function.__code__):
        for kind in (MADE[op] for op in MADE.keys() & {*code.co_code[::2]}):
            yield f"makes a {kind}, which kernels cannot; write numbers, or a tuple outside of it"
        for word in words(code):
            value = _value(function, word)
            if isinstance(value, FunctionType) and value in (function, *outer):
                yield f"calls {word} from {word} itself; write a loop with a bound"
            elif isinstance(value, FunctionType) and value not in seen:
                yield from _problems(value, words, (*outer, function), seen)
            else:
                yield from _problems_of(word, value, code)


def _problems_of(word: str, value: Any, code: CodeType) -> Iterator[str]:
    if isinstance(value, ModuleType) and value is not math:
        used = next((name for name in code.co_names if hasattr(value, name)), "")
        yield _instead(f"{word}.{used}", used)
    elif callable(value) and (getattr(value, "__module__", None) or type(value).__module__).startswith(ARRAYS):
        yield _instead(word, value.__name__)
    elif isinstance(value, list | dict | set | np.ndarray):
        yield f"reads {word}, of type {type(value).__name__}; make it a tuple of numbers"


def _instead(written: str, function: str) -> str:
    words = f"math.{function}" if hasattr(math, function) else "functions of math, abs, min or max"
    return f"uses {written}, which kernels of GPUs do not know; write {words}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of comprehensions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _names(code: CodeType) -> Iterable[str]:
    """The words that it may have from outside, and names of attributes."""
    return (*code.co_names, *code.co_freevars)


def _words(code: CodeType) -> dict[str, None]:
    """The words that it has from outside, in their order."""
    return dict.fromkeys(each.argval for each in dis.get_instructions(code) if each.opname in READ)


def _value(function: FunctionType, word: str) -> Any:
    """What a word of a function stands for where it is defined; ``None`` for what is not known by now."""
    try:
        return function.__closure__[function.__code__.co_freevars.index(word)].cell_contents  # type: ignore[index]
    except ValueError:  # no word of functions around it, or one that has no value yet
        return function.__globals__.get(word)
