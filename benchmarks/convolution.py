"""Convolutions, with gradients in both arguments: a layer over images, and one long series, beside JAX and torch."""

from __future__ import annotations

import functools
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

IMAGES, FILTERS, SERIES, TAPS = (8, 16, 32, 32), (16, 16, 3, 3), 2**20, 65


def energy(m: Any, y: Any) -> Any:
    """What is derived of a convolution, in a library ``m``."""
    return 0.5 * m.sum(y * y)


def images_by_hand(x: np.ndarray, w: np.ndarray) -> list[Any]:
    """Value and gradient of a layer that keeps lengths, by windows that NumPy shows."""
    view = functools.partial(np.lib.stride_tricks.sliding_window_view, window_shape=w.shape[2:], axis=(2, 3))
    around = [(0, 0), (0, 0), (1, 1), (1, 1)]
    windows = view(np.pad(x, around))
    y = np.einsum("ncyxij,ocij->noyx", windows, w, optimize=True)
    of_x = np.einsum("noyxij,ocij->ncyx", view(np.pad(y, around)), w[:, :, ::-1, ::-1], optimize=True)
    return [0.5 * (y * y).sum(), of_x, np.einsum("noyx,ncyxij->ocij", y, windows, optimize=True)]


def series_by_hand(x: np.ndarray, w: np.ndarray) -> list[Any]:
    """Value and gradient of a correlation."""
    y = np.correlate(x, w)
    return [0.5 * (y * y).sum(), np.convolve(y, w), np.correlate(x, y)]


def images_by_vecdist(x: Any, w: Any) -> Any:
    """The layer by its own function."""
    from vecdist.signal import conv

    return energy(np, conv(x, w, padding=1))


def series_by_vecdist(x: Any, w: Any) -> Any:
    """The correlation by NumPy's function."""
    return energy(np, np.correlate(x, w))


def by_jax(padding: int, x: Any, w: Any) -> Any:
    """A layer or a series by XLA's convolution, in full precision."""
    import jax
    import jax.numpy as jnp

    if x.ndim == 1:
        x, w = x[None, None], w[None, None]
    ends = [(padding, padding)] * (x.ndim - 2)
    return energy(jnp, jax.lax.conv_general_dilated(x, w, (1,) * len(ends), ends, precision="highest"))


def by_torch(padding: int, x: Any, w: Any) -> Any:
    """A layer or a series by torch's convolution: cuDNN's on a GPU, without TensorFloat-32."""
    import torch

    if x.ndim == 1:
        return energy(torch, torch.nn.functional.conv1d(x[None, None], w[None, None]))
    return energy(torch, torch.nn.functional.conv2d(x, w, padding=padding))


def exactly(c: Contest, padding: int) -> Contender:
    """torch's, told before it compiles that float32 is wanted."""
    import torch

    torch.backends.cudnn.allow_tf32 = False
    return c.torch(functools.partial(by_torch, padding))


def contest(chosen: Namespace, title: str, shapes: tuple[Any, Any], by_hand: Callable[..., list[Any]]) -> Contest:
    """Random numbers of these shapes."""
    rng = np.random.default_rng(12)
    given = [rng.normal(size=shape).astype(chosen.dtype) for shape in shapes]
    return Contest(title, chosen, given, 2, given[0].size, by_hand(*double(given)))


def contenders(c: Contest, function: Callable[..., Any], padding: int) -> dict[str, Callable[[], Contender]]:
    """vecdist, JAX and torch."""
    return {
        "vecdist": lambda: c.vecdist(function),
        "JAX": lambda: c.jax(functools.partial(by_jax, padding)),
        "torch.compile": lambda: exactly(c, padding),
    }


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    layer = contest(chosen, f"layer of {FILTERS[0]} filters of 3 x 3 over {IMAGES}", (IMAGES, FILTERS), images_by_hand)
    layer.run(contenders(layer, images_by_vecdist, 1))
    series = contest(chosen, f"convolution with {TAPS} taps", ((chosen.size or SERIES,), (TAPS,)), series_by_hand)
    series.run(contenders(series, series_by_vecdist, 0))
