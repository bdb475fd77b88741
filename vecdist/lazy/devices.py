"""Several devices of one host that share the rows of arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, final

from vecdist.graph.leaves import chunked as leaf
from vecdist.graph.memo import Memo
from vecdist.lazy.array import LazyArray
from vecdist.runtime.chunks.devices import Group
from vecdist.runtime.chunks.sharded import shard

PIECES = 8  # that rows are cut into: 1, 2, 4 and 8 devices have equally many

_groups: Memo[Group] = Memo()


@final
class Devices:
    """What ``devices`` gives: the names of the devices, and ``shard``, which lays rows of arrays on them."""

    def __init__(self, numbers: Sequence[int | None], pieces: int) -> None:
        self.group: Group = _groups(tuple(numbers), lambda: Group(numbers))
        self.pieces: int = pieces

    def __repr__(self) -> str:
        return f"<devices {self.group!r}; rows in {self.pieces} pieces>"

    def __len__(self) -> int:
        return len(self.group)

    @property
    def names(self) -> tuple[str, ...]:
        """What each device is called: ``"cpu"``, or ``"cuda:1"``."""
        return tuple("cpu" if number is None else f"cuda:{number}" for number in self.group.numbers)

    def shard(self, array: Any, name: str | None = None) -> LazyArray:
        """A lazy array of the rows of ``array``, copied to the devices now, and kept there.

        ``array`` is anything with a shape, a dtype and slices: NumPy's and CuPy's arrays, an ``np.memmap``, an array of
        Zarr, a dataset of HDF5; each device reads its own rows.  Raises ``ValueError`` for an array without axes, and
        for a Dask array, which has chunks of its own; ``TypeError`` for other dtypes than those of other arrays.
        """
        if hasattr(array, "__dask_graph__"):
            raise ValueError("a Dask array has chunks of its own, and is taken as it is")
        held = shard(self.group, array, self.pieces)
        return LazyArray(leaf(held, name))


def devices(names: Sequence[int | str] | None = None, *, pieces: int = PIECES) -> Devices:
    """Devices of this host that share the rows of arrays: GPUs by their numbers, all of them where left out.

    ``devices([0, 1]).shard(x)`` is a lazy array whose rows lie on two GPUs.  What is computed of it runs on both side
    by side, launched as one CUDA graph (processors have threads); parameters are CuPy arrays, sent to each, and results
    lie on the first.  Rows are cut into ``pieces``, some for each device, and the parts of pieces are added in order:
    the bits depend on the number of pieces, and not on that of devices.  Several arrays of one expression are sharded
    by the same devices; other arrays may stand beside them row by row, and are sent in each call.

    ``"cpu"`` is a thread of the processor, ``["cpu"] * 4`` four of them, and a GPU may be there twice: so programs for
    several devices are tried without them.  Without GPUs, ``devices()`` is the processor alone.  ``chunked`` takes
    devices too, for rows that are not to stay there, and so do samplers, for chains.

    Raises ``ValueError`` for fewer pieces than devices, names of no device, or processors and GPUs beside each other,
    or GPUs of different architectures, whose kernels round differently.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> x, mu = np.linspace(-1.0, 1.0, 1000), np.array(0.5)
    >>> four, one = (vecdist.devices(["cpu"] * count).shard(x) for count in (4, 1))
    >>> of_four, of_one = (vecdist.value_and_grad(vecdist.logpdf(Normal(mu, 1.0), y).sum(), mu) for y in (four, one))
    >>> round(float(of_four[0]), 3), of_four == of_one
    (-1210.939, True)
    """
    if isinstance(names, int | str):
        raise TypeError(f"devices are given as a sequence, as [{names!r}]")
    numbers = [_number(name) for name in (_present() if names is None else names)]
    if not numbers or len(numbers) > pieces:
        raise ValueError(f"{len(numbers)} devices share {pieces} pieces of rows; each wants one or more: pieces=")
    if len({number is None for number in numbers}) > 1:
        raise ValueError(f"a processor and GPUs round differently, and share no rows: given {list(names or ())}")
    if numbers[0] is not None:
        _check_gpus([number for number in numbers if number is not None])
    return Devices(numbers, pieces)


def device_group(device: Any) -> Group | None:
    """The devices of what users call one: ``"cpu"``, ``"cuda"``, a number, or ``devices``; ``None`` of a processor."""
    if isinstance(device, Devices):
        return device.group
    if device in (None, "cpu"):
        return None
    if device == "cuda":
        import cupy

        device = cupy.cuda.device.get_device_id()
    return devices([device]).group


def _present() -> list[int | str]:
    try:
        import cupy

        return list(range(cupy.cuda.runtime.getDeviceCount())) or ["cpu"]
    except Exception:  # no CuPy, or no driver
        return ["cpu"]


def _number(name: Any) -> int | None:
    """The number of a GPU, ``None`` for the processor."""
    if name == "cpu":
        return None
    if isinstance(name, int) and not isinstance(name, bool) and name >= 0:
        return name
    found = re.fullmatch(r"cuda:(\d+)", name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f'a device is "cpu", "cuda:1" or the number of a GPU, given {name!r}')
    return int(found[1])


def _check_gpus(numbers: Sequence[int]) -> None:
    """Raise ``ValueError`` for numbers of no GPU, and GPUs that no kernel is for together."""
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    missing = [number for number in numbers if number >= count]
    if missing:
        raise ValueError(f"there is no GPU {missing[0]}: this host has {count}")
    kinds = {number: cupy.cuda.Device(number).compute_capability for number in numbers}
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"{number} has {kind}" for number, kind in kinds.items())
        raise ValueError(f"GPUs of different architectures round differently, and share no rows: {said}")
