"""Device functions in the CUDA simulator: one thread computes what a launch computes."""

import densities
import numpy as np
import random_models
from uncompiled import uncompiled

import vecdist
from vecdist import device_function
from vecdist.codegen.device.render import render
from vecdist.runtime.cuda.compiler import cuda

LENGTHS = (1, 2, 7, 33)


def check(name, imported, flat_memory):
    """A model by its name, or a random one by its seed."""
    if name.isdigit():
        drawn = random_models.model(int(name), lengths=LENGTHS, dtype="f8", terms=2)
        views = {each: given.on(np) for each, given in drawn.given.items()}
        arrays = {each: array.copy() if min(array.strides, default=0) < 0 else array for each, array in views.items()}
        given = [arrays[each] for each in drawn.parameters]
        function = device_function(drawn.function(arrays), given, gradient=True)
        with uncompiled():
            value, slopes = vecdist.value_and_grad(drawn.density(arrays), wrt=tuple(given))
    else:
        density = getattr(densities, name)()
        given = [np.linspace(-1.0, 1.0, density.ndim)]
        function = device_function(density, gradient=True)
        with uncompiled():
            value, *slopes = density.logdensity_and_gradient(given[0])
    found = launched(function, given, imported, flat_memory)
    for mine, wanted in zip(found, [value, *slopes], strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-11, atol=1e-11 * np.max(np.abs(wanted)))


def launched(function, given, imported, flat_memory):
    """The value and the slopes, from a kernel of one thread."""
    made = function.made
    source = render(made.kernel, made.returned, "cuda")
    density = cuda.jit(device=True)(imported(source.name, source.text, source.routines).density)
    arguments = []
    for slot in made.kernel.slots:
        leaf = made.leaves[slot.index]
        array = np.asarray(given[made.places[leaf]]) if leaf in made.places else leaf.array
        strided = slot.layout == "strided"
        flat = array[()] if slot.layout == "number" else flat_memory(array) if strided else array.reshape(-1)
        arguments += [flat, *[array.strides[axis] // array.itemsize for axis in slot.axes if strided]]
    filled, returned = [np.full(each.shape, np.nan) for each in made.filled], []
    pointers = [each.reshape(-1) for each in filled]
    cuda.jit(lambda: returned.extend(density(*arguments, *pointers)))[1, 1]()
    value, *numbers = returned
    numbers, arrays = iter(numbers), iter(filled)
    return value, *[next(arrays if each.shape else numbers) for each in made.derived]
