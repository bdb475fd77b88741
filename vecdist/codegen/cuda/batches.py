"""Batches of chains: many chains go through a kernel some thousands at a time, as if there were no others.

What nests leave to each other for a batch stays in the cache of a GPU.  That of all chains goes to memory and back, and
where it has no room there each nest computes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.codegen.cuda.grid import SIZE, elements
from vecdist.kernel.apart import Batch, axis_apart, first_axis
from vecdist.kernel.ir import Kernel, Output

CACHE = 48 * 2**20  # bytes that nests leave to each other and find again at hand, on an H200
WORTH = 32 * 2**20  # of these, from which on what a launch costs is nothing beside them
LEAST, ENOUGH = 4096, 16384  # chains that keep a GPU busy, and to which more add nothing
ALIKE = 256  # chains of which batches are made, so that arrays are read from places as good as their first


def batch(nests: Sequence[Kernel], kernels: Sequence[Kernel], lengths: Mapping[str, int]) -> Batch | None:
    """The batches in which a kernel takes its chains; ``None`` where it takes all at once.

    Its nests are known before and behind what is decided by lengths.
    """
    if len(kernels) != 1:
        return None
    (kernel,) = kernels
    if lengths.get(first_axis(kernel), 0) < 2 * LEAST or not (dim := axis_apart(nests[0])):
        return None
    left = sum(_bytes(output, {**lengths, dim: 1}) for output in kernel.outputs if _is_left(output, dim))
    if not left or lengths[dim] < 2 * (most := _most(left)):
        return None
    each = -(-lengths[dim] // -(-lengths[dim] // most))
    return Batch(dim, ALIKE * -(-each // ALIKE))


def _most(left: int) -> int:
    """The chains of a batch, each of which leaves so many bytes."""
    fitting, worth = (1 << max(1, size // left).bit_length() - 1 for size in (CACHE, WORTH))
    return max(LEAST, min(fitting, max(ENOUGH, worth)))


def _is_left(output: Output, dim: str) -> bool:
    """Whether nests leave an output of each chain to each other."""
    return output.temporary and not output.kept and any(dim in str(each).split("*") for each in output.shape)


def _bytes(output: Output, lengths: Mapping[str, int]) -> int:
    return elements(output.shape, lengths) * (SIZE if output.summed else output.dtype.itemsize)
