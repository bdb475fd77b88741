"""What the interpreter calls for the turns of a loop, written out as one Python function: a line for each value.

Of arrays as short as those of tests a call of NumPy takes less time than finding out what to call, and of what; of one
element, numbers take a tenth of what arrays of length one do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

# The operators that arrays and numbers have both, with the same bits.  Their dtypes are right as they are.
OPERATORS: dict[Any, str] = {
    np.add: "{} + {}", np.subtract: "{} - {}", np.multiply: "{} * {}", np.divide: "{} / {}", np.negative: "-{}",
    np.less: "{} < {}", np.less_equal: "{} <= {}", np.equal: "{} == {}", np.not_equal: "{} != {}",
    np.bitwise_and: "{} & {}", np.bitwise_or: "{} | {}", np.left_shift: "{} << {}", np.right_shift: "{} >> {}",
    np.where: "where({}, {}, {})",
}  # fmt: skip

Call = tuple[int, bool, Any, list[int], np.dtype | None]  # a place, elementwise or not, meaning, places of arguments


def written_out(
    known: Sequence[Any], calls: Iterable[Call], results: Iterable[int]
) -> tuple[Callable[..., list[Any]], Callable[..., list[Any]]]:
    """The values of ``results`` as a function of arrays and lengths, and as one of numbers in the place of arrays.

    ``known`` are the values of constants, among places for what ``calls`` compute, in order.
    """
    shared: dict[str, Any] = {}
    lines = ["def turn(arrays, length):"]
    for place, elementwise, meaning, given, dtype in calls:
        names = [f"v{each}" for each in given]
        if meaning in OPERATORS:
            lines.append(f"    v{place} = {OPERATORS[meaning].format(*names)}")
            continue
        shared[f"m{place}"], shared[f"t{place}"] = meaning, dtype
        told = names if elementwise else ["arrays", "length", *names]
        value = f"m{place}({', '.join(told)})"
        lines.append(f"    v{place} = {value if dtype is None else f'as_typed({value}, t{place})'}")
    lines.append(f"    return [{', '.join(f'v{place}' for place in results)}]")
    code = compile("\n".join(lines), "<turn>", "exec").co_consts[0]
    constants = {f"v{place}": value for place, value in enumerate(known) if value is not None}
    numbers = {name: value[()] for name, value in constants.items()}
    return (
        FunctionType(code, constants | shared | {"where": np.where, "as_typed": _array}),
        FunctionType(code, numbers | shared | {"where": _chosen, "as_typed": _number}),
    )


def _array(value: Any, dtype: np.dtype) -> Any:
    return value if type(value) is np.ndarray and value.dtype is dtype else np.asarray(value, dtype)


def _number(value: Any, dtype: np.dtype) -> Any:
    return value if isinstance(value, dtype.type) else dtype.type(value)


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no
