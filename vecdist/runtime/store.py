"""Compiled kernels on disk: files named by their content, written whole or not at all.

Many processes may share the folder: equal names hold equal content, so the last writer changes nothing.  A folder that
cannot be used, or not any more, costs time, and no result.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import tempfile
import time
from pathlib import Path

from vecdist.runtime import folder

DIGEST = 32  # bytes of a SHA-256 digest
TRIMMED = 200  # writes after which the folder is looked through again
TOUCHED = 86400.0  # seconds after which a file that is read is marked as used

_writes = itertools.count()


def read(name: str) -> bytes | None:
    """The content of a file, or ``None`` where there is none."""
    where = folder.usable()
    if where is None:
        return None
    try:
        with open(where / name, "rb") as file:
            content = file.read()
            unused = time.time() - os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    if unused > TOUCHED:
        with contextlib.suppress(OSError):
            os.utime(where / name)
    return content


def read_checked(name: str) -> bytes | None:
    """The content of a file that ``write_checked`` wrote; ``None``, with a warning, where it is damaged."""
    found = read(name)
    if found is None:
        return None
    digest, content = found[:DIGEST], found[DIGEST:]
    if hashlib.sha256(content).digest() == digest:
        return content
    where = folder.usable()
    folder.tell(("damage", where), f"a cached kernel in {where} was damaged; it is compiled again")
    return None


def write_checked(name: str, content: bytes) -> Path | None:
    """Put a file in place atomically, behind a digest of its content."""
    return write(name, hashlib.sha256(content).digest() + content)


def write(name: str, content: bytes) -> Path | None:
    """Put a file in place atomically; ``None``, with a warning, where that cannot be done."""
    where = folder.usable()
    if where is None:
        return None
    try:
        folder.make(where)  # it may have been removed meanwhile
        _place(where / name, content)
    except OSError as error:
        folder.tell_unwritable(where, error)
        return None
    if next(_writes) % TRIMMED == 0:
        folder.trim(where)
    return where / name


def _place(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=folder.WRITING)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        folder.remove(Path(temporary))
        raise


def kept(name: str, content: bytes) -> Path | None:
    """The file of this name and content, written where it is not there."""
    where = folder.usable()
    return where / name if where is not None and read(name) == content else write(name, content)


def clear() -> None:
    """Remove every file that vecdist has written."""
    where = folder.usable()
    for file, _ in folder.files(where) if where is not None else ():
        folder.remove(file)
