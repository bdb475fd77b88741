"""The folder of compiled kernels: files named by their content, written whole or not at all.

Many processes may share the folder: equal names hold equal content, so the last writer changes nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

VARIABLE = "VECDIST_CACHE_DIR"
DIGEST = 32  # bytes of a SHA-256 digest


def wanted_folder() -> Path:
    """Where kernels should be kept: ``VECDIST_CACHE_DIR``, or ``vecdist`` in the user's cache folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "vecdist"


def folder() -> Path:
    """Where kernels are kept: the wanted folder, or a temporary one, with a warning, where that cannot be written."""
    return _usable(wanted_folder())


@functools.cache
def _usable(wanted: Path) -> Path:
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as error:
        warnings.warn(
            f"vecdist cannot write its cache folder {wanted} ({error.strerror}); kernels are compiled again in every "
            f"process. Set {VARIABLE} to a folder that can be written.",
            stacklevel=2,
        )
        return Path(tempfile.mkdtemp(prefix="vecdist-"))


def read(name: str) -> bytes | None:
    """The content of a file, or ``None`` where there is none."""
    try:
        return (folder() / name).read_bytes()
    except OSError:
        return None


def read_checked(name: str) -> bytes | None:
    """The content of a file that ``write_checked`` wrote; ``None``, with a warning, where it is damaged."""
    found = read(name)
    if found is None:
        return None
    digest, content = found[:DIGEST], found[DIGEST:]
    if hashlib.sha256(content).digest() == digest:
        return content
    warnings.warn(f"the cached kernel {folder() / name} is damaged; it is compiled again", stacklevel=2)
    return None


def write_checked(name: str, content: bytes) -> Path:
    """Put a file in place atomically, behind a digest of its content."""
    return write(name, hashlib.sha256(content).digest() + content)


def write(name: str, content: bytes) -> Path:
    """Put a file in place atomically."""
    path = folder() / name
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)
    return path


def import_source(name: str, text: str, given: Mapping[str, Any]) -> ModuleType:
    """The module of generated source, from a file of the folder, so that Numba can cache what it compiles of it.

    ``given`` are functions that it calls and does not import.
    """
    content = text.encode()
    path = folder() / f"{name}.py"
    if read(path.name) != content:
        path = write(path.name, content)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # Numba looks the module up by name when it loads from its cache
    module.__dict__.update(given)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def forget(name: str) -> None:
    """Remove what was compiled from a source, after it was found to be corrupt."""
    sys.modules.pop(name, None)
    for path in folder().rglob(f"{name}*"):
        path.unlink(missing_ok=True)
