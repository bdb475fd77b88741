"""Products of arrays in Einstein's notation."""

from __future__ import annotations

import re
from string import ascii_letters
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray, as_lazy, matmul
from vecdist.lazy.views import broadcast_view

Term = tuple[str, LazyArray]  # a letter for each axis, all different


def einsum(subscripts: str, *operands: Any) -> LazyArray:
    """The product of arrays, summed over the letters that are not in the output, as ``np.einsum`` of text."""
    if not isinstance(subscripts, str) or not operands:
        raise TypeError("np.einsum of a lazy array takes subscripts as text, then arrays, not lists of axes")
    arrays = [as_lazy(operand) for operand in operands]
    named, output = _parsed(subscripts, arrays)
    terms = _of_one_length([_diagonal(letters, array) for letters, array in named])
    for places in _path(terms, output):
        chosen = [terms[place] for place in places]
        terms = [term for place, term in enumerate(terms) if place not in places]
        terms.append(_contracted(chosen, _kept(chosen, terms, output)))
    return terms[0][1].astype(np.result_type(*(array.dtype for array in arrays)))


def _parsed(subscripts: str, arrays: list[LazyArray]) -> tuple[list[Term], str]:
    """The letters of each array, with some for the axes of ``...``, and those of the output."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    one = r"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
    if not re.fullmatch(f"{one}(,{one})*(->{one})?", text) or len(inputs) != len(arrays):
        raise ValueError(
            f"np.einsum of {len(arrays)} arrays was given the subscripts {subscripts!r}; wanted as in 'ij,j->i'"
        )
    named, dots = _without_dots(inputs, arrays)
    if dots and arrow and "..." not in right:
        raise ValueError(f"the output of the subscripts {subscripts!r} lacks the axes of '...'")
    letters = re.sub(r"[.,]", "", left)
    once = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    output = right.replace("...", dots) if arrow else dots + once
    if len(set(output)) < len(output) or not set(output) <= {*letters, *dots}:
        raise ValueError(f"the output letters of {subscripts!r} must be different, and among those of the inputs")
    return named, output


def _without_dots(inputs: list[str], arrays: list[LazyArray]) -> tuple[list[Term], str]:
    """Arrays with letters for the axes of ``...``, which are broadcast, and those letters."""
    for each, array in zip(inputs, arrays, strict=True):
        count = len(each.replace("...", ""))
        if count > array.ndim or ("..." not in each and count < array.ndim):
            raise ValueError(f"{each!r} names {count} axes of an array of shape {array.shape}")
    starts = [each.find("...") for each in inputs]
    counts = [array.ndim - len(each.replace("...", "")) for each, array in zip(inputs, arrays, strict=True)]
    shapes = [array.shape[at : at + n] if n else () for at, n, array in zip(starts, counts, arrays, strict=True)]
    common = np.broadcast_shapes(*shapes)
    free = [letter for letter in ascii_letters if letter not in "".join(inputs)]
    dots = "".join(free[: len(common)])
    named = []
    for each, array, shape, start in zip(inputs, arrays, shapes, starts, strict=True):
        own = dots[len(dots) - len(shape) :]
        wide = common[len(common) - len(shape) :]
        repeated = [start + axis for axis, (n, m) in enumerate(zip(shape, wide, strict=True)) if n != m]
        letters = each.replace("...", own)
        kept = "".join(letter for axis, letter in enumerate(letters) if axis not in repeated)
        named.append((kept, array[tuple(0 if axis in repeated else slice(None) for axis in range(array.ndim))]))
    return named, dots


def _diagonal(letters: str, array: LazyArray) -> Term:
    """An array with one axis for each letter: of axes with the same letter, the diagonal."""
    while twice := next((letter for letter in letters if letters.count(letter) > 1), ""):
        first = letters.index(twice)
        second = letters.index(twice, first + 1)
        length, other = array.shape[first], array.shape[second]
        if length != other:
            raise ValueError(f"the lengths {length} and {other} of the axis {twice!r} differ in np.einsum")
        rest = [axis for axis in range(array.ndim) if axis not in (first, second)]
        lengths = [array.shape[axis] for axis in rest]
        array = array.transpose([first, second, *rest]).reshape((length * length, *lengths))[:: length + 1]
        letters = twice + "".join(letters[axis] for axis in rest)
    return letters, array


def _of_one_length(terms: list[Term]) -> list[Term]:
    """Terms whose axes of a letter are equally long: one of length 1 beside a longer one is left out, and repeated."""
    lengths: dict[str, int] = {}
    for letters, array in terms:
        for letter, length in zip(letters, array.shape, strict=True):
            known = lengths.get(letter, 1)
            if 1 not in {known, length} and known != length:
                raise ValueError(f"the lengths {known} and {length} of the axis {letter!r} differ")
            lengths[letter] = length if known == 1 else known
    found = []
    for letters, array in terms:
        short = [length != lengths[letter] for letter, length in zip(letters, array.shape, strict=True)]
        kept = "".join(letter for letter, gone in zip(letters, short, strict=True) if not gone)
        found.append((kept, array[tuple(0 if gone else slice(None) for gone in short)] if any(short) else array))
    return found


def _path(terms: list[Term], output: str) -> list[tuple[int, ...]]:
    """Which terms are multiplied at each step: up to two at once, more in the order with the fewest operations."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    from opt_einsum import contract_path  # loaded by those who multiply three arrays

    text = ",".join(letters for letters, _ in terms) + "->" + output
    path: Any = contract_path(text, *(array.shape for _, array in terms), shapes=True)[0]
    return [tuple(step) for step in path]


def _kept(chosen: list[Term], others: list[Term], output: str) -> str:
    """The letters of a step's result: those of the output, in its order, then what later steps need."""
    later = "".join(letters for letters, _ in others)
    own = dict.fromkeys("".join(letters for letters, _ in chosen))
    first = [letter for letter in output if letter in own]
    return "".join([*first, *(letter for letter in own if letter in later and letter not in output)])


def _contracted(terms: list[Term], output: str) -> Term:
    """The product of terms, summed over the letters that are not in the output; of two matrices, their product."""
    if len(terms) == 2 and all(len(letters) == 2 for letters, _ in terms) and len(output) == 2:
        (first, a), (second, b) = terms if output[0] in terms[0][0] else terms[::-1]
        summed = set(first) & set(second)
        if len(summed) == 1 and {output[0], *summed} == set(first) and {output[1], *summed} == set(second):
            left = a if first[0] == output[0] else a.transpose()
            return output, matmul(left, b if second[1] == output[1] else b.transpose())
    lengths = {letter: n for letters, array in terms for letter, n in zip(letters, array.shape, strict=True)}
    order = list(dict.fromkeys([*output, *"".join(letters for letters, _ in terms)]))
    product = _aligned(*terms[0], order)
    for term in terms[1:]:
        product = product * _aligned(*term, order)
    full = LazyArray(broadcast_view(product.node, [lengths[letter] for letter in order]))
    return output, full.sum(axis=tuple(range(len(output), len(order)))) if len(order) > len(output) else full


def _aligned(letters: str, array: LazyArray, order: list[str]) -> LazyArray:
    """An array with one axis for each letter of ``order``, of length 1 where it has not that letter."""
    own = [letter for letter in order if letter in letters]
    sorted_axes = array.transpose([letters.index(letter) for letter in own]) if own else array
    return sorted_axes[tuple(slice(None) if letter in letters else None for letter in order)]
