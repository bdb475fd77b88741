"""Methods that NumPy's arrays have and that are functions of NumPy: each is the lazy form of its function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, DTypeLike

Axes = int | Sequence[int] | None


class Methods:
    """What lazy arrays have beside the methods that the forms of functions are made of."""

    __slots__ = ()

    if TYPE_CHECKING:
        @property
        def device(self) -> str: ...

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The functions of the Python array API standard, NumPy's, which give lazy arrays of lazy ones."""
        from vecdist.lazy import namespace

        return namespace.of_version(api_version)

    def to_device(self, device: str, /, *, stream: object = None) -> Self:
        """The array itself, on its device, which its inputs decide."""
        if device != self.device or stream is not None:
            raise ValueError(f"a lazy array is computed where its inputs are: on {self.device}, not on {device}")
        return self

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """The place of the first of the largest elements along ``axis``, or of the first NaN."""
        return _by("argmax", self, axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """The place of the first of the smallest elements along ``axis``, or of the first NaN."""
        return _by("argmin", self, axis, keepdims=keepdims)

    def argpartition(self, kth: ArrayLike, axis: int | None = -1) -> Self:
        """The places of the elements along ``axis`` with those before ``kth`` no larger, those behind no smaller."""
        return _by("argpartition", self, kth, axis)

    def argsort(self, axis: int | None = -1, *, stable: bool | None = None) -> Self:
        """The places of the elements along ``axis`` in ascending order, ties as they stand, NaN last."""
        return _by("argsort", self, axis, stable=stable)

    def choose(self, choices: Sequence[ArrayLike], *, mode: str = "raise") -> Self:
        """Of so many arrays the elements that this one says."""
        return _by("choose", self, choices, mode=mode)

    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Self:  # noqa: A002 (NumPy's names)
        """The array with its elements no less than ``min`` and no more than ``max``."""
        return _by("clip", self, min, max)

    def compress(self, condition: ArrayLike, axis: int | None = None) -> Self:
        """The elements along ``axis`` where a condition holds, which is known."""
        return _by("compress", condition, self, axis)

    def conj(self) -> Self:
        """The array itself: its numbers are real."""
        return self

    conjugate = conj

    def copy(self) -> Self:
        """The array itself, which nothing can change."""
        return self

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The diagonal of two axes, along a last axis."""
        return _by("diagonal", self, offset, axis1, axis2)

    def dot(self, other: ArrayLike) -> Self:
        """The sums of products over the last axis and the last but one of ``other``: of matrices, ``self @ other``."""
        return _by("dot", self, other)

    def flatten(self) -> Self:
        """All elements along one axis."""
        return _by("ravel", self)

    def ptp(self, axis: Axes = None, *, keepdims: bool = False) -> Self:
        """The largest element over ``axis`` less the smallest."""
        return _by("ptp", self, axis, keepdims=keepdims)

    def repeat(self, repeats: ArrayLike, axis: int | None = None) -> Self:
        """The array with each element along ``axis`` so often."""
        return _by("repeat", self, repeats, axis)

    def round(self, decimals: int = 0) -> Self:
        """The array rounded to so many decimals, halves to even."""
        return _by("round", self, decimals)

    def searchsorted(self, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Self:
        """Where each of ``v`` would stand in this array, which is sorted."""
        return _by("searchsorted", self, v, side, sorter)

    def squeeze(self, axis: Axes = None) -> Self:
        """The array without axes of length 1."""
        return _by("squeeze", self, axis)

    def std(
        self, axis: Axes = None, dtype: DTypeLike | None = None, *, ddof: float = 0, keepdims: bool = False
    ) -> Self:
        """The standard deviation over ``axis``; its derivative is 0 where all elements are equal."""
        return _by("std", self, axis, dtype, ddof=ddof, keepdims=keepdims)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The array with two axes in each other's place."""
        return _by("swapaxes", self, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None) -> Self:
        """The sum of the diagonal of two axes."""
        return _by("trace", self, offset, axis1, axis2, dtype)

    def var(
        self, axis: Axes = None, dtype: DTypeLike | None = None, *, ddof: float = 0, keepdims: bool = False
    ) -> Self:
        """The variance over ``axis``."""
        return _by("var", self, axis, dtype, ddof=ddof, keepdims=keepdims)


def _by(name: str, *args: Any, **keywords: Any) -> Any:
    """A method by the lazy form of the function of its name."""
    from vecdist.lazy.numpy_functions import FUNCTIONS

    return FUNCTIONS[name](*args, **keywords)
