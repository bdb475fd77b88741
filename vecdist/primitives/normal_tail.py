"""Special functions by the path that they had: see ``vecdist.special``."""

from typing import Any


def __getattr__(name: str) -> Any:
    from vecdist import special

    return getattr(special, name)
