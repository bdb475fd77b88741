"""Arrays of a random model: lazy ones, or NumPy's, of which it is computed at once."""

from vecdist import lazy


class Plain(dict):
    """Arrays that are computed of at once."""


def of(arrays, name):
    return arrays[name] if isinstance(arrays, Plain) else lazy(arrays[name])
