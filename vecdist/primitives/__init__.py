"""The primitives: importing this package fills the table with those that operators and NumPy's functions are made of.

Others come with the modules that define them: special functions, and those of one family.  All are there when
``PRIMITIVES`` is asked for here; what only looks one up imports it from ``table``.
"""

from vecdist.names import found_later, load

_WHERE = {
    "PRIMITIVES": "vecdist.primitives.table",
    "Primitive": "vecdist.primitives.table",
    "flat": "vecdist.primitives.table",
    "partials_of": "vecdist.primitives.table",
    "primitive": "vecdist.primitives.table",
}

__getattr__, __dir__, __all__ = found_later(
    __name__, _WHERE, {"PRIMITIVES": ("vecdist.special", "vecdist.distributions", "vecdist.wrappers")}
)
load(__name__)
