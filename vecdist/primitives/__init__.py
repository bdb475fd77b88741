"""The primitives: importing this package fills the table."""

import importlib
import pkgutil

from vecdist.primitives.table import PRIMITIVES, Primitive, flat, partials_of, primitive

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["PRIMITIVES", "Primitive", "flat", "partials_of", "primitive"]
