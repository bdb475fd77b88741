"""Things that are made once for each key: made by one thread while others wait for it alone, and forgotten when many.

Nothing is locked to look up what is there, and no lock is closed for ever in a child that another thread's work was
forked into.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, Generic, TypeVar, final, overload

Made = TypeVar("Made")


def in_children(renew: Callable[[], None]) -> None:
    """Have ``renew`` called in every child that this process forks, where the threads that held its locks are not."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


@final
class _Kept:
    """What was made, and when it was last asked for."""

    __slots__ = ("used", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.used = value, next(_clock)


AT_ONCE = 8  # the part of what is kept that is looked for to be forgotten next
_clock = itertools.count()
_memos: weakref.WeakSet[Memo] = weakref.WeakSet()


@final
class Memo(Generic[Made]):
    """What was made for each key, of which the ``most`` that were last asked for are kept.

    Copies and pickles of it are empty.

    >>> squares = Memo(most=2)
    >>> [squares(n, lambda n=n: n * n) for n in (1, 2, 1, 3)]
    [1, 4, 1, 9]
    >>> sorted(squares), squares.made
    ([1, 3], 3)
    """

    def __init__(self, most: int | Callable[[], int] | None = None) -> None:
        self.made: int = 0
        self._most = most
        self._kept: dict[Hashable, _Kept] = {}
        self._oldest: list[tuple[int, Hashable]] = []  # the next to be forgotten last, if they are not asked for
        self._making: dict[Hashable, threading.RLock] = {}  # type: ignore[valid-type]
        _memos.add(self)

    def __call__(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is there for ``key``, or what ``make`` makes; what that raises is raised, and kept by nobody."""
        found = self._kept.get(key)
        if found is None:
            return self._once(key, make)
        found.used = next(_clock)
        return found.value

    def _once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        making = self._making.setdefault(key, threading.RLock())
        try:
            with making:
                found = self._kept.get(key)
                if found is None:
                    found = self._kept[key] = _Kept(make())
                    self.made += 1
                    self._drop_oldest()
                return found.value
        finally:
            if self._making.get(key) is making:
                self._making.pop(key, None)

    def _drop_oldest(self) -> None:
        most = self._most() if callable(self._most) else self._most
        while most is not None and len(self._kept) > most:
            try:
                used, oldest = self._oldest.pop()
            except IndexError:
                kept = self._kept.copy()  # in one step, while other threads add to it
                old = sorted([(each.used, key) for key, each in kept.items()], key=itemgetter(0))
                self._oldest = old[len(old) // AT_ONCE :: -1]
                continue
            found = self._kept.get(oldest)
            if found is not None and found.used == used:  # nor is any other older
                self._kept.pop(oldest, None)

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._oldest = []

    def __iter__(self) -> Any:
        return iter(self._kept.copy())

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def __reduce__(self) -> tuple[Any, ...]:
        return Memo, (self._most,)


def _forget_makers() -> None:
    for memo in list(_memos):
        memo._making = {}


in_children(_forget_makers)


@final
class cached_property(Generic[Made]):  # noqa: N801 (as functools has it)
    """An attribute that is computed when it is first asked for.

    That of ``functools`` has a lock in Python 3.11, one for all objects.
    """

    def __init__(self, function: Callable[[Any], Made]) -> None:
        self.function: Callable[[Any], Made] = function
        self.__doc__: str | None = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Made]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Made: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return vars(instance).setdefault(self.name, self.function(instance))
