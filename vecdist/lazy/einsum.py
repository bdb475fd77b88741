"""Products of two arrays in Einstein's notation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.views import broadcast_view


def einsum(subscripts: str, *operands: Any) -> LazyArray:
    """The sum over repeated letters of the product of one or two arrays, as ``np.einsum`` of explicit letters."""
    if not isinstance(subscripts, str) or not 1 <= len(operands) <= 2:
        raise TypeError("np.einsum of a lazy array takes subscripts as text, and one or two arrays")
    inputs, output = _parsed(subscripts, len(operands))
    lengths: dict[str, int] = {}
    product: LazyArray | None = None
    order = list(dict.fromkeys([*output, *"".join(inputs)]))
    for letters, operand in zip(inputs, map(as_lazy, operands), strict=True):
        aligned = _aligned(operand, letters, order, lengths)
        product = aligned if product is None else product * aligned
    assert product is not None
    full = LazyArray(broadcast_view(product.node, [lengths[letter] for letter in order]))
    total = full.sum(axis=tuple(range(len(output), len(order)))) if len(order) > len(output) else full
    return total.astype(np.result_type(*(operand.dtype for operand in map(as_lazy, operands))))


def _parsed(subscripts: str, count: int) -> tuple[list[str], str]:
    """The letters of each input, and those of the output."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if not re.fullmatch(r"[A-Za-z,]*(->[A-Za-z]*)?", text) or len(inputs) != count:
        raise ValueError(f"np.einsum of {count} arrays was given the subscripts {subscripts!r}; wanted as in 'ij,j->i'")
    letters = "".join(inputs)
    output = right if arrow else "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    if len(set(output)) < len(output) or not set(output) <= set(letters):
        raise ValueError(f"the output letters of {subscripts!r} must be different, and among those of the inputs")
    if any(len(set(each)) < len(each) for each in inputs):
        raise ValueError(f"a letter is repeated within one array in {subscripts!r}, which has no lazy form")
    return inputs, output


def _aligned(operand: LazyArray, letters: str, order: list[str], lengths: dict[str, int]) -> LazyArray:
    """An operand with one axis for each letter of ``order``, of length 1 where it has not that letter."""
    if len(letters) != operand.ndim:
        raise ValueError(f"{letters!r} names {len(letters)} axes of an array of shape {operand.shape}")
    for letter, length in zip(letters, operand.shape, strict=True):
        if lengths.setdefault(letter, length) != length:
            raise ValueError(f"the lengths {lengths[letter]} and {length} of the axis {letter!r} differ in np.einsum")
    own = [letter for letter in order if letter in letters]
    sorted_axes = operand.transpose([letters.index(letter) for letter in own]) if own else operand
    return sorted_axes[tuple(slice(None) if letter in letters else None for letter in order)]
