"""Derivatives of scalar functions of arrays, by differences."""

import numpy as np


def differences(function, place, *arrays, step=1e-6):
    """The gradient of a scalar function in one of its arrays, by central differences."""
    result = np.empty(arrays[place].shape)
    for index in np.ndindex(result.shape):
        ends = []
        for move in (step, -step):
            moved = [array.copy() for array in arrays]
            moved[place][index] += move
            ends.append(function(*moved))
        result[index] = (ends[0] - ends[1]) / (2 * step)
    return result
