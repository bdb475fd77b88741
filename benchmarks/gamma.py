"""The gamma log density with its derivatives, by vecdist and by its peers, over the same data."""

from __future__ import annotations

import functools
import importlib
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing
from timing import Contender

DISTINCT = 2**20  # data repeat after so many elements, which keeps preparing and checking them short
CHECKED = 2**12  # elements of an array that are checked
TOLERANCE = {"float32": 1e-4, "float64": 1e-11}


@dataclass(frozen=True)
class Problem:
    """Arrays in host memory; ``summed``: the sum and its gradient in ``a, t``, else the value and three partials."""

    a: np.ndarray
    t: np.ndarray
    x: np.ndarray
    summed: bool
    device: str

    @property
    def dtype(self) -> np.dtype:
        return self.x.dtype

    def arrays(self, convert: Callable[[np.ndarray], Any]) -> list[Any]:
        return [convert(self.a), convert(self.t), convert(self.x)]


def problem(chosen: Namespace, summed: bool) -> Problem:
    """Data of the size, dtype and device chosen; scalar parameters for a sum."""
    rng = np.random.default_rng(20240501)
    few = min(DISTINCT, chosen.size)
    a, t = (2.5, 1.25) if summed else (rng.uniform(0.5, 8.0, few), rng.uniform(0.5, 3.0, few))
    x = np.maximum(rng.gamma(3.0, 1.5, few), 1e-3)
    size = 1 if summed else chosen.size
    a, t = (np.resize(np.asarray(p, chosen.dtype), size).reshape(np.shape(p) and (size,)) for p in (a, t))
    return Problem(a, t, np.resize(x.astype(chosen.dtype), chosen.size), summed, chosen.device)


def by_hand(m: Any, a: Any, t: Any, x: Any, summed: bool) -> tuple[Any, ...]:
    """What a careful user writes, in any library ``m`` that has log, gammaln and digamma."""
    log_x, log_t, scaled = m.log(x), m.log(t), x / t
    value = (a - 1) * log_x - scaled - m.gammaln(a) - a * log_t
    da, dt = log_x - m.digamma(a) - log_t, (scaled - a) / t
    return (value.sum(), da.sum(), dt.sum()) if summed else (value, da, dt, (a - 1) / x - 1 / t)


def vecdist_contender(p: Problem) -> Contender:
    """One compiled function, one launch."""
    import vecdist
    from vecdist.distributions import Gamma
    from vecdist.explain import explain

    def density(a: Any, t: Any, x: Any) -> Any:
        lp = vecdist.logpdf(vecdist.Vectorize(Gamma, (a, t)), x)
        return lp.sum() if p.summed else lp

    arrays = p.arrays(timing.array_library(p.device).asarray)
    compiled, wrt = vecdist.compile(density), (0, 1) if p.summed else (0, 1, 2)
    method = compiled.value_and_grad if p.summed else compiled.value_and_partials

    def call() -> tuple[Any, ...]:
        value, derivatives = method(*arrays, wrt=wrt)
        return value, *derivatives

    def kernels() -> int:
        lazy = [vecdist.lazy(array) for array in arrays]
        return sum(kernel.launches for kernel in explain(density(*lazy), wrt=tuple(lazy[n] for n in wrt)).kernels)

    return Contender(call, timing.wait_for(p.device), kernels)


def array_contender(p: Problem) -> Contender:
    """The formula by hand, operation by operation: NumPy with SciPy, or CuPy."""
    xp = timing.array_library(p.device)
    special = importlib.import_module("cupyx.scipy.special" if p.device == "cuda" else "scipy.special")
    m = Namespace(log=xp.log, gammaln=special.gammaln, digamma=special.digamma)
    arrays = p.arrays(xp.asarray)
    return Contender(lambda: by_hand(m, *arrays, p.summed), timing.wait_for(p.device))


def jax_by_hand(p: Problem) -> Contender:
    """The formula by hand, jitted."""
    import jax.numpy as jnp
    from jax.scipy.special import digamma, gammaln

    m = Namespace(log=jnp.log, gammaln=gammaln, digamma=digamma)
    return jitted(lambda a, t, x: by_hand(m, a, t, x, p.summed), p)


def numpyro_contender(p: Problem) -> Contender:
    """NumPyro's density, differentiated by JAX, jitted."""
    import jax
    import jax.numpy as jnp
    from numpyro.distributions import Gamma

    def density(a: Any, t: Any, x: Any) -> Any:
        return Gamma(a, rate=1 / t).log_prob(x)

    def total(a: Any, t: Any, x: Any) -> tuple[Any, ...]:
        value, gradient = jax.value_and_grad(lambda a, t: density(a, t, x).sum(), (0, 1))(a, t)
        return value, *gradient

    def partials(a: Any, t: Any, x: Any) -> tuple[Any, ...]:
        value, pull = jax.vjp(density, a, t, x)
        return value, *pull(jnp.ones_like(value))

    return jitted(total if p.summed else partials, p)


def jitted(function: Callable[..., Any], p: Problem) -> Contender:
    """A function jitted by JAX, on the device."""
    import jax

    arrays = p.arrays(lambda array: jax.device_put(array, timing.jax_device(p.device)))
    compiled = jax.jit(function)
    kernels = functools.partial(hlo_kernels, compiled, arrays)
    return Contender(lambda: compiled(*arrays), jax.block_until_ready, kernels)


def hlo_kernels(compiled: Any, arrays: Sequence[Any]) -> int:
    """The operations of the compiled program that are kernels: all but those that only name or regroup data."""
    text = compiled.lower(*arrays).compile().as_text()
    entry = text[text.index("\nENTRY") :].split("\n}")[0]
    operations = re.findall(r"^ +(?:ROOT )?%?[\w.-]+ = .*? ([a-z][a-z0-9-]*)\(", entry, re.MULTILINE)
    return sum(name not in ("parameter", "constant", "bitcast", "tuple", "get-tuple-element") for name in operations)


def torch_by_hand(p: Problem) -> Contender:
    """The formula by hand, through torch.compile."""
    import torch

    m = Namespace(log=torch.log, gammaln=torch.lgamma, digamma=torch.digamma)
    return torch_compiled(lambda a, t, x: by_hand(m, a, t, x, p.summed), p)


def torch_contender(p: Problem) -> Contender:
    """torch's own density, differentiated by torch, through torch.compile."""
    import torch

    def density(a: Any, t: Any, x: Any) -> Any:
        return torch.distributions.Gamma(a, 1 / t, validate_args=False).log_prob(x)

    def total(a: Any, t: Any, x: Any) -> tuple[Any, ...]:
        gradient, value = torch.func.grad_and_value(lambda a, t: density(a, t, x).sum(), (0, 1))(a, t)
        return value, *gradient

    def partials(a: Any, t: Any, x: Any) -> tuple[Any, ...]:
        value, pull = torch.func.vjp(density, a, t, x)
        return value, *pull(torch.ones_like(value))

    return torch_compiled(total if p.summed else partials, p)


def torch_compiled(function: Callable[..., Any], p: Problem) -> Contender:
    """A function compiled by torch, on the device."""
    import torch

    arrays = p.arrays(lambda array: torch.from_numpy(array).to(p.device))
    compiled = torch.compile(function, fullgraph=True, dynamic=False)
    wait = torch.cuda.synchronize if p.device == "cuda" else lambda: None
    kernels = functools.partial(torch_kernels, function, arrays)
    return Contender(lambda: compiled(*arrays), lambda _: wait(), kernels)


def torch_kernels(function: Callable[..., Any], arrays: Sequence[Any]) -> int:
    """The kernels of the code that torch generates, and the calls of kernels that it has ready."""
    import torch
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    _, codes = run_and_get_code(torch.compile(function, fullgraph=True, dynamic=False), *arrays)
    called = r"^ +(?:\w+\.run\(|cpp_\w+\(|buf\w+ = (?:torch\.ops\.aten|aten|extern_kernels)\.|extern_kernels\.)"
    return sum(len(re.findall(called, code[code.index("def call(") :], re.MULTILINE)) for code in codes)


def contenders(device: str) -> dict[str, Callable[[Problem], Contender]]:
    """Who competes, vecdist first."""
    return {
        "vecdist": vecdist_contender,
        "NumPyro": numpyro_contender,
        "JAX, by hand": jax_by_hand,
        "torch.compile": torch_contender,
        "torch.compile, by hand": torch_by_hand,
        "CuPy, by hand" if device == "cuda" else "SciPy, by hand": array_contender,
    }


def error(result: Sequence[Any], p: Problem) -> str:
    """The largest error against SciPy in float64, relative where values are above 1; of a sum, per element."""
    from scipy import special

    m = Namespace(log=np.log, gammaln=special.gammaln, digamma=special.digamma)
    if p.summed:
        whole, rest = divmod(p.x.size, DISTINCT)
        a, t, x = (array.astype(np.float64) for array in (p.a, p.t, p.x[:DISTINCT]))
        parts = zip(by_hand(m, a, t, x, True), by_hand(m, a, t, x[:rest], True), strict=True)
        wanted = [(whole * each + some) / p.x.size for each, some in parts]
        found = [float(value) / p.x.size for value in result]
    else:
        few = slice(None, None, max(1, p.x.size // CHECKED))
        wanted = by_hand(m, *(array[few].astype(np.float64) for array in (p.a, p.t, p.x)), False)
        found = [on_host(array[few]) for array in result]
    pairs = zip(found, wanted, strict=True)
    largest = max(float(np.max(np.abs(f - w) / np.maximum(1.0, np.abs(w)))) for f, w in pairs)
    return f"{largest:.1e}" + ("" if largest < TOLERANCE[p.dtype.name] else " WRONG")


def on_host(array: Any) -> np.ndarray:
    """An array of any library as a NumPy array."""
    if hasattr(array, "cpu"):
        array = array.cpu()
    return array.get() if hasattr(array, "get") else np.asarray(array)


def compete(title: str, p: Problem, bytes_moved: int) -> None:
    """Build, check, time and print every contender."""
    entries, errors = {}, {}
    for name, build in contenders(p.device).items():
        entries[name], errors[name] = timing.attempt(functools.partial(build, p), functools.partial(error, p=p))
    bandwidth = timing.copy_bandwidth(p.device)
    timing.race(entries, p.device)
    floor = bytes_moved / bandwidth
    timing.heading(
        f"{title}, {p.x.size} elements of {p.dtype}",
        p.device,
        f"floor {timing.duration(floor)}: {bytes_moved / 1e6:.4g} MB at {bandwidth / 1e9:.4g} GB/s, a copy in this run",
    )
    timing.standings(entries, errors, p.x.size, floor)
