"""Structured statements of the loop IR: what loop nests become when it is decided how they run.

Loops over ranges, branches and assignments of scalar expressions: few enough for a table of each target to say what
they are, and for Python to run them as they are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, final

from vecdist.kernel.expressions import ZERO, Constant, Element, Expr, Name, Several, names, rewritten

Item_co = TypeVar("Item_co", covariant=True)
"""What stands among structured statements: nothing else in finished code, statements of loop nests before."""

INDENT = "    "


@final
@dataclass(frozen=True, slots=True)
class Set:
    """Give a name, an element of an array, or several names of a tuple a value."""

    target: Name | Element | Several
    value: Expr


@final
@dataclass(frozen=True, slots=True)
class Do:
    """Call a function for its effect."""

    call: Expr


@final
@dataclass(frozen=True, slots=True)
class Note:
    """A remark for those who read."""

    text: str


@final
@dataclass(frozen=True, slots=True)
class Return:
    """The end of a function, and its result; it stands last."""

    value: Expr | None = None


@final
@dataclass(frozen=True, slots=True)
class If(Generic[Item_co]):
    """A branch."""

    test: Expr
    body: tuple[Item_co, ...]
    orelse: tuple[Item_co, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class While(Generic[Item_co]):
    """``body`` again while ``test`` holds."""

    test: Expr
    body: tuple[Item_co, ...]


@final
@dataclass(frozen=True, slots=True)
class For(Generic[Item_co]):
    """``body`` for each value of ``index`` from ``start`` to before ``stop``; ``step`` is 1 where it is ``None``.

    Of a ``masked`` loop the last turns, too few for a vector, may be one, some of whose lanes do nothing.
    """

    index: str
    stop: Expr
    body: tuple[Item_co, ...]
    start: Expr = ZERO
    step: Expr | None = None
    masked: bool = False


Simple = Set | Do | Note | Return
Code = Simple | If | While | For


@final
@dataclass(frozen=True)
class Function:
    """A function of generated code."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Code, ...]

    def __str__(self) -> str:
        return "\n".join([f"def {self.name}({', '.join(self.parameters)}):", *_inside(self.body, 0, str)])


def let(name: str, value: Expr) -> Set:
    """Give a name a value."""
    return Set(Name(name), value)


def bodies(item: object) -> tuple[tuple, ...]:
    """The blocks inside a statement."""
    match item:
        case If(_, body, orelse):
            return body, orelse
        case While(_, body) | For(_, _, body):
            return (body,)
    return ()


def walk(items: Sequence[Item_co]) -> Iterator[Item_co]:
    """Statements and all that stands inside them, in order."""
    for item in items:
        yield item
        for body in bodies(item):
            yield from walk(body)


def expressions(item: Code) -> Iterator[Expr]:
    """The expressions of a statement itself, those that it stores to among them."""
    match item:
        case Set(target, value):
            yield from (target, value)
        case Do(call):
            yield call
        case Return(value) if value is not None:
            yield value
        case If(test) | While(test):
            yield test
        case For(_, stop, _, start, step):
            yield from (start, stop) if step is None else (start, stop, step)


def names_in(items: Sequence[Code]) -> set[str]:
    """Every name in expressions of statements and of all that stands inside them."""
    found, parts = set(), [part for item in walk(items) for part in expressions(item)]
    for part in parts:  # which grow meanwhile
        if isinstance(part, Name):
            found.add(part.id)
        elif not isinstance(part, Constant):
            parts += part.parts
    return found


def specialised(function: Function, known: Mapping[Expr, Expr]) -> Function:
    """A function with what is known in the place of parts of its expressions."""
    body = [mapped(item, lambda whole: rewritten(whole, known.get)) for item in function.body]
    return replace(function, body=tuple(body))


def mapped(item: Code, change: Callable[[Expr], Expr]) -> Code:
    """A statement with its expressions changed, and those of all inside it; names that loops give stay."""
    match item:
        case Set(target, value):
            changed = change(target)
            assert isinstance(changed, Name | Element | Several)
            return Set(changed, change(value))
        case Do(call):
            return Do(change(call))
        case Return(value):
            return Return(None if value is None else change(value))
        case If(test, body, orelse):
            return If(change(test), _each(body, change), _each(orelse, change))
        case While(test, body):
            return While(change(test), _each(body, change))
        case For(index, stop, body, start, step, masked):
            step = None if step is None else change(step)
            return For(index, change(stop), _each(body, change), change(start), step, masked)
    return item


def _each(body: Sequence[Code], change: Callable[[Expr], Expr]) -> tuple[Code, ...]:
    return tuple([mapped(item, change) for item in body])


def replaced(items: Sequence[Any], rule: Callable[[Any], Sequence[Any] | None]) -> tuple[Any, ...]:
    """Statements with what ``rule`` puts in the place of each, outermost first; ``None`` looks inside."""
    found = []
    for item in items:
        new = rule(item)
        found += [with_bodies(item, lambda body: replaced(body, rule))] if new is None else new
    return tuple(found)


def with_bodies(item: Any, change: Callable[[tuple], tuple]) -> Any:
    """A statement with the blocks inside it changed."""
    match item:
        case If(_, body, orelse):
            return replace(item, body=change(body), orelse=change(orelse))
        case While(_, body) | For(_, _, body):
            return replace(item, body=change(body))
    return item


def assigned(items: Sequence[Code]) -> set[str]:
    """The names that statements give values to."""
    found = set()
    for item in walk(items):
        match item:
            case Set(Name(name)):
                found.add(name)
            case Set(Several(targets)):
                found.update(names(*targets))
            case For(index):
                found.add(index)
    return found


def lines(items: Sequence[object], depth: int = 0, say: Callable[[object], str] = str) -> Iterator[str]:
    """Statements as lines of Python; ``say`` is the text of what is none of these."""
    pad = INDENT * depth
    for item in items:
        match item:
            case If(test, body, orelse):
                yield f"{pad}if {test}:"
                yield from _inside(body, depth, say)
                while len(orelse) == 1 and isinstance(orelse[0], If):
                    test, body, orelse = orelse[0].test, orelse[0].body, orelse[0].orelse
                    yield f"{pad}elif {test}:"
                    yield from _inside(body, depth, say)
                if orelse:
                    yield f"{pad}else:"
                    yield from _inside(orelse, depth, say)
            case While(test, body):
                yield f"{pad}while {test}:"
                yield from _inside(body, depth, say)
            case For(index, _, body):
                yield f"{pad}for {index} in {series(item)}:{'  # masked' if item.masked else ''}"
                yield from _inside(body, depth, say)
            case _:
                yield pad + (_line(item) or say(item))


def series(loop: For) -> str:
    """The range of a loop."""
    if loop.step is not None:
        return f"range({loop.start}, {loop.stop}, {loop.step})"
    return f"range({loop.stop})" if loop.start == ZERO else f"range({loop.start}, {loop.stop})"


def _inside(body: Sequence[object], depth: int, say: Callable[[object], str]) -> Iterator[str]:
    yield from lines(body, depth + 1, say)
    if all(isinstance(item, Note) for item in body):
        yield f"{INDENT * (depth + 1)}pass"


def _line(item: object) -> str:
    match item:
        case Set(Several(targets), value):
            left = ", ".join(map(str, targets)) + ("," if len(targets) == 1 else "")
            right = ", ".join(map(str, value.items)) if isinstance(value, Several) and len(value.items) > 1 else value
            return f"{left} = {right}"
        case Set(target, value):
            return f"{target} = {value}"
        case Do(call):
            return str(call)
        case Note(text):
            return f"# {text}"
        case Return(None):
            return "return"
        case Return(value):
            return f"return {value}"
    return ""
