"""Why functions of NumPy have no lazy form, where there is more to say than that they have none."""

from __future__ import annotations

_REASONS = {
    "how long the result is depends on the elements": (
        "argwhere", "flatnonzero", "intersect1d", "nonzero", "setdiff1d", "setxor1d", "trim_zeros", "union1d",
        "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    ),
    "it writes into an array, and a lazy one does not change: np.where and np.concatenate give another": (
        "fill_diagonal", "place", "put", "put_along_axis", "putmask",
    ),
    "it calls a function of arrays of NumPy's: write what it does for all rows, or vecdist.compile with in_axes": (
        "apply_along_axis", "apply_over_axes",
    ),
    "it writes into an array, as np.full_like of another one does: write np.ones_like(x) * a": ("copyto",),
    "its results are complex numbers": ("eig", "eigvals", "roots", "sort_complex"),
}  # fmt: skip
WHY = {name: reason for reason, names in _REASONS.items() for name in names}
INSTEAD = "for where= write np.where(condition, np.exp(x), otherwise), for dtype= np.exp(x.astype(dtype)), and so on"
