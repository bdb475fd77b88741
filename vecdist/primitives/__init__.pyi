"""The primitives: importing this package fills the table with those that operators and NumPy's functions are made of."""

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.

from vecdist.primitives.table import PRIMITIVES as PRIMITIVES, Primitive as Primitive, flat as flat, partials_of as partials_of, primitive as primitive


__all__ = [
    "PRIMITIVES",
    "Primitive",
    "flat",
    "partials_of",
    "primitive",
]
