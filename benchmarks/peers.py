"""How vecdist, JAX and torch run a function of arrays: differentiated, compiled, on a device, its kernels counted."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np
import timing
from timing import Contender

Function = Callable[..., Any]


def compiled(
    function: Function, given: Sequence[np.ndarray], device: str, wrt: tuple[int, ...], partials: bool, **options: Any
) -> Contender:
    """A function compiled by vecdist: its value with gradient or with elementwise partials."""
    import vecdist

    arrays = [timing.array_library(device).asarray(array) for array in given]
    fast = vecdist.compile(function, **options)
    method = fast.value_and_partials if partials else fast.value_and_grad
    kernels = functools.partial(launches, function, arrays, wrt) if not options else lambda: "-"
    return Contender(lambda: method(*arrays, wrt=wrt), timing.wait_for(device), kernels)


def launches(function: Function, arrays: Sequence[Any], wrt: Sequence[int]) -> int:
    """The kernels that vecdist launches."""
    import vecdist

    lazy = [vecdist.lazy(array) for array in arrays]
    explained = vecdist.explain(function(*lazy), wrt=tuple(lazy[place] for place in wrt))
    return sum(kernel.launches for kernel in explained.kernels)


def jax_gradient(function: Function, count: int) -> Function:
    """A scalar function with its gradient in the first ``count`` arrays, by JAX."""
    import jax

    return jax.value_and_grad(function, tuple(range(count)))


def jax_partials(function: Function, count: int) -> Function:
    """An elementwise function with its partials in the first ``count`` arrays, by JAX."""
    import jax
    import jax.numpy as jnp

    def derived(*arrays: Any) -> tuple[Any, ...]:
        value, pull = jax.vjp(lambda *first: function(*first, *arrays[count:]), *arrays[:count])
        return value, *pull(jnp.ones_like(value))

    return derived


def jitted(function: Function, given: Sequence[np.ndarray], device: str) -> Contender:
    """A function jitted by JAX, on the device."""
    import jax

    arrays = [jax.device_put(array, timing.jax_device(device)) for array in given]
    fast = jax.jit(function)
    return Contender(lambda: fast(*arrays), jax.block_until_ready, functools.partial(hlo_kernels, fast, arrays))


def hlo_kernels(fast: Any, arrays: Sequence[Any]) -> int:
    """The operations of the compiled program that are kernels: all but those that only name or regroup data."""
    text = fast.lower(*arrays).compile().as_text()
    entry = text[text.index("\nENTRY") :].split("\n}")[0]
    operations = re.findall(r"^ +(?:ROOT )?%?[\w.-]+ = .*? ([a-z][a-z0-9-]*)\(", entry, re.MULTILINE)
    return sum(name not in ("parameter", "constant", "bitcast", "tuple", "get-tuple-element") for name in operations)


def torch_gradient(function: Function, count: int) -> Function:
    """A scalar function with its gradient in the first ``count`` arrays, by torch."""
    import torch

    derived = torch.func.grad_and_value(function, tuple(range(count)))

    def swapped(*arrays: Any) -> tuple[Any, ...]:
        gradient, value = derived(*arrays)
        return value, *gradient

    return swapped


def torch_partials(function: Function, count: int) -> Function:
    """An elementwise function with its partials in the first ``count`` arrays, by torch."""
    import torch

    def derived(*arrays: Any) -> tuple[Any, ...]:
        value, pull = torch.func.vjp(lambda *first: function(*first, *arrays[count:]), *arrays[:count])
        return value, *pull(torch.ones_like(value))

    return derived


def torch_compiled(function: Function, given: Sequence[np.ndarray], device: str) -> Contender:
    """A function compiled by torch, on the device."""
    import torch

    arrays = [torch.from_numpy(np.asarray(array)).to(device) for array in given]
    fast = torch.compile(own_code(function), fullgraph=True, dynamic=False)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    first, codes = noted(lambda: fast(*arrays))
    return Contender(first, lambda _: wait(), functools.partial(torch_kernels, codes))


def own_code(function: Function) -> Function:
    """The function as one whose code no other shares: torch keeps what it compiled by the code."""

    def calling(*arrays: Any) -> Any:
        return function(*arrays)

    return types.FunctionType(calling.__code__.replace(), globals(), closure=calling.__closure__)


def noted(call: Callable[[], Any]) -> tuple[Callable[[], Any], list[str]]:
    """``call``, and the list in which the code that torch generates in the first of the calls is found after it."""
    from torch._inductor.graph import GraphLowering

    codes: list[str] = []

    def calling() -> Any:
        if codes:
            return call()
        with mock.patch.object(GraphLowering, "save_output_code", codes.append):
            result = call()
        codes.append("")  # which says that the first call is over
        return result

    return calling, codes


def torch_kernels(codes: Sequence[str]) -> int | str:
    """The kernels of the code that torch generated, and the calls of kernels that it has ready."""
    called = r"^ +(?:\w+\.run\(|cpp_\w+\(|buf\w+ = (?:torch\.ops\.aten|aten|extern_kernels)\.|extern_kernels\.)"
    bodies = [code[code.index("def call(") :] for code in codes if code]
    return sum(len(re.findall(called, body, re.MULTILINE)) for body in bodies) or "-"


def on_host(array: Any) -> np.ndarray:
    """An array of any library as a NumPy array."""
    if hasattr(array, "cpu"):
        array = array.cpu()
    return array.get() if hasattr(array, "get") else np.asarray(array)
