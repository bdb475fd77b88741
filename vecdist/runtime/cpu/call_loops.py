"""How machine code is called whose arguments lie in words: filled in here from arrays of Python, or from C's pointers.

Plain Python in the words of ``calling.py``, which ``frontend.py`` reads.  All addresses are numbers.
"""

# ruff: noqa: ANN001, ANN201
# pyright: reportUndefinedVariable=false

from __future__ import annotations

from typing import Any

CODE, WORDS, TEMPLATE, FILLS, KIND, SIZE, SLOPES, FIXED, MORE, HEAD = range(10)
"""Places of an entry's table: its code, how many words it takes, what is known of them, how many are filled in, which
kind of entry it is, how long its vectors are and their gradients, and the bytes that it works in, for each row more.
"""
ONE, EACH, MANY = range(3)
"""Kinds of entries: of one vector, of a launch for each of several, and of one launch for all."""
VECTORS, VALUES, GRADIENTS, NUMBER, MEMORY = range(5)
"""What is filled in: where these are, a number, and where an array is that the code works in."""
FILL = 4  # the words of each: its place, what it is, and what it is counted from, with so much more for each row
HEADER = object.__basicsize__ // 8  # words of every object, of which the last is its type
TYPE, DATA, SHAPE, STRIDES, ELEMENTS, FLAGS = HEADER - 1, HEADER, HEADER + 2, HEADER + 3, HEADER + 5, HEADER + 6
"""The words of an array of NumPy (``PyArrayObject_fields``): its type, where its elements are, its lengths, strides,
the type of its elements, and its flags.
"""
KINDS, SAID = HEADER + 1, ~0xFF000000
"""The word of a type of elements (``PyArray_Descr``) that says which, and their order, and which of its bits do."""
VALUE = HEADER  # the word of a float that is its value (``PyFloatObject``), or half of it (``PyFloatScalarObject``)
ITEMS = tuple.__basicsize__ // 8  # the words of a tuple before those that it holds
LINE = 64  # bytes, at whose multiples memory begins

word: Any = None
put: Any = None
number: Any = None
single: Any = None
put_float: Any = None
stack: Any = None
copied: Any = None
called: Any = None
reserved: Any = None
released: Any = None


def launch(code, known, count, told, arguments):
    """Call code with so many words, known but for arrays and floats in a tuple: 1 where one is of another type.

    ``told`` are the types of arrays and floats, how many there are of both, and for each its place in the tuple, its
    first word, and of an array how many axes are told, the type of its elements, and its flags.
    """
    own, strange, at = stack(count), 0, 6
    copied(own, known, count)
    for _ in range(word(told, 4)):
        array, start, axes = word(arguments, ITEMS + word(told, at)), word(told, at + 1), word(told, at + 2)
        same = word(array, TYPE) == word(told, 0) and word(word(array, ELEMENTS), KINDS) & SAID == word(told, at + 3)
        if same and word(told, at + 4) & ~word(array, FLAGS) == 0:
            put(own, start, word(array, DATA))
            for axis in range(axes):
                put(own, start + 1 + axis, word(word(array, SHAPE), axis))
                put(own, start + 1 + axes + axis, word(word(array, STRIDES), axis))
        else:
            strange = 1
        at = at + 5
    for _ in range(word(told, 5)):
        value, start = word(arguments, ITEMS + word(told, at)), word(told, at + 1)
        at = at + 2
        kind = word(value, TYPE)
        if kind == word(told, 1) or kind == word(told, 2):
            put(own, start, word(value, VALUE))
        elif kind == word(told, 3):
            put_float(own, start, single(value, 2 * VALUE))
        else:
            strange = 1
    if strange == 0:
        called(code, own)
    return strange


def entry(count, x, gradients, values, table):
    """An entry for C, as ``entries.py`` has them."""
    kind, size, slopes = word(table, KIND), word(table, SIZE), word(table, SLOPES)
    result, rows = 0, count
    if kind == ONE:
        rows = 1
        if count != size:
            result = -1
    if rows < 0:
        result = -1
    if result == 0 and rows > 0:
        together = rows if kind == MANY else 1
        space = word(table, FIXED) + together * word(table, MORE)
        memory = LINE
        if space > 0:
            memory = reserved(space)
        if memory == 0:
            result = -1
        else:
            run(table, 1 if kind == MANY else rows, together, (memory + LINE - 1) // LINE * LINE, x, values, gradients)
            if space > 0:
                released(memory)
            if lost(values, rows) + lost(gradients, rows * slopes) != 0.0:
                result = 1
    return result


def run(table, turns, together, memory, x, values, gradients) -> None:
    """Calls of a kernel for so many vectors at a time."""
    words, fills, size, slopes = word(table, WORDS), word(table, FILLS), word(table, SIZE), word(table, SLOPES)
    own = stack(words)
    copied(own, word(table, TEMPLATE), words)
    for turn in range(turns):
        for fill in range(fills):
            at = HEAD + FILL * fill
            place, what = word(table, at), word(table, at + 1)
            value = word(table, at + 2) + together * word(table, at + 3)
            if what == VECTORS:
                value = x + 8 * turn * size
            if what == VALUES:
                value = values + 8 * turn
            if what == GRADIENTS:
                value = gradients + 8 * turn * slopes
            if what == MEMORY:
                value = memory + value
            put(own, place, value)
        called(word(table, CODE), own)


def lost(numbers, count):
    """Zero where all are finite."""
    found = 0.0
    for place in range(count):
        found = found + number(numbers, place) * 0.0
    return found
