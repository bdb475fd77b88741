"""Which folder compiled kernels are kept in, whether it can be trusted, and how large it may grow.

What lies in it is loaded as code: it belongs to the user alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

VARIABLE, SIZE = "VECDIST_CACHE_DIR", "VECDIST_CACHE_MEGABYTES"
MEGABYTES = 1024
UNUSED = 90 * 86400.0  # seconds after which a file goes that nobody has read: one of another version, perhaps
ABANDONED = 3600.0  # seconds after which nobody is writing a file any more
WRITING = ".writing-"
OURS = re.compile(rf"(\w+_[0-9a-f]{{12}}(_sm\d+)?(\..+)?\.(py|nb[ci]|cubin|ltoir))|({re.escape(WRITING)}.*)")

_told: set[object] = set()


def wanted() -> Path:
    """Where kernels should be kept: ``VECDIST_CACHE_DIR``, or ``vecdist`` in the user's cache folder.

    A relative path is one from where the process first asked.  ``RuntimeError`` where the user has no home.
    """
    if os.environ.get(VARIABLE):
        return _absolute(os.environ[VARIABLE])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return _absolute(str(Path(base) / "vecdist"))


@functools.cache
def _absolute(path: str) -> Path:
    return Path(path).absolute()


def usable() -> Path | None:
    """The wanted folder, made where it is not there; ``None``, with a warning, where it cannot be, or is not safe."""
    try:
        path = wanted()
    except RuntimeError as error:
        tell("home", f"vecdist has no folder to keep kernels in: {error}")
        return None
    return path if _seems_safe(path) else None


@functools.cache
def _seems_safe(path: Path) -> bool:
    try:
        make(path)
        problem = danger(path)
    except OSError as error:
        tell_unwritable(path, error)
        return False
    if problem:
        tell(path, f"vecdist does not use its cache folder {path}, from which code is loaded: {problem}")
    return not problem


def make(path: Path) -> None:
    """Make the folder, for its owner alone, where it is not there."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def danger(path: Path) -> str:
    """Why others than the owner of this process (and root) could put code into the folder; empty where they cannot."""
    if not hasattr(os, "geteuid"):
        return ""
    found = path.stat()
    if found.st_uid not in (os.geteuid(), 0):
        return f"it belongs to user {found.st_uid}; set {VARIABLE} to a folder of your own"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write it; chmod go-w {path}, or set {VARIABLE} to a folder that is yours alone"
    return ""


def problem(path: Path) -> str:
    """Why a folder is not used, or cannot be written; empty where it is and can be."""
    try:
        make(path)
        with tempfile.TemporaryFile(dir=path, prefix=WRITING):
            return danger(path)
    except OSError as error:
        return f"it cannot be written: {error.strerror}"


def tell_unwritable(path: Path, error: OSError) -> None:
    """Warn, once, that the folder cannot be written."""
    told = f"vecdist cannot write its cache folder {path} ({error.strerror}); kernels are compiled again in every "
    tell(path, f"{told}process. Set {VARIABLE} to a folder that can be written.")


def tell(about: object, text: str) -> None:
    """Warn of something, once."""
    if about not in _told:
        _told.add(about)
        warnings.warn(text, stacklevel=2)


def files(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files in the folder that vecdist has written."""
    for folder in (path, path / "__pycache__"):
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            with contextlib.suppress(OSError):  # another process may have removed it meanwhile
                if OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def trim(path: Path) -> None:
    """Remove what nobody has used for long, and what makes the folder larger than ``VECDIST_CACHE_MEGABYTES``."""
    left, now = megabytes() * 2**20, time.time()
    for file, found in sorted(files(path), key=lambda each: -each[1].st_mtime):
        left -= found.st_size
        idle = now - found.st_mtime
        if left < 0 or idle > (ABANDONED if file.name.startswith(WRITING) else UNUSED):
            remove(file)


def megabytes() -> int:
    """The size that the folder may have: ``VECDIST_CACHE_MEGABYTES``, or 1024."""
    given = os.environ.get(SIZE) or str(MEGABYTES)
    if not given.isdecimal():
        raise ValueError(f"{SIZE} is a number of megabytes, given {given!r}")
    return int(given)


def remove(file: Path) -> None:
    """Remove a file, if that can be done."""
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
