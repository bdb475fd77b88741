"""A bridge for the time being: the names that a statement reads, as CUDA calls them."""

from vecdist.kernel.statements import reads as named  # noqa: F401
