"""Random models computed in every way that users have, on either target, beside the interpreter.

``python tests/random_model_runs.py cuda 0 400 --jobs 14`` runs 400 seeds on a GPU in 14 processes and prints how many
models agree, and those that do not; ``cpu`` in place of ``cuda`` does so on this machine, and ``--kind matrices`` and
``--kind layers`` are of models with matrices, and of networks and their like.
"""

import argparse
import inspect
import multiprocessing
import os
import sys
import time
import traceback
from collections import Counter
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import random_layer_models
import random_matrix_models
import random_models
from interpreting import by_interpreter

from vecdist import compile as compile_function
from vecdist import data, hvp, value_and_grad
from vecdist.codegen.cuda import batches
from vecdist.passes import few_rows

CHAINS = (1, 3, 40)
RTOL = {8: 1e-9, 4: 2e-4}  # by the bytes of a number


AGREES, REFUSED = "agree", "refused"
VERDICTS = (AGREES, REFUSED)  # of a way to compute a model; anything else is what went wrong


def arrays_of(model, library=np, dtype=None):
    return {name: given.on(library, dtype) for name, given in model.given.items()}


def function_of(model, marked=()):
    """The model as a function of its arrays in order, some of which are not arguments but ``marked``: constant data."""
    names = [name for name in model.given if name not in marked]

    def density(*arrays):
        return model.density(dict(marked) | dict(zip(names, arrays, strict=True)))

    density.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return density, names


def constant(model, arrays):
    """Some of the arrays that are no parameters, marked as data."""
    rng = np.random.default_rng([model.seed, 7])
    others = [name for name in model.given if name not in model.parameters]
    kept = [name for name in others if rng.random() < 0.7] or others
    return {name: data(arrays[name]) for name in kept}


def lazily(model, library, marked=()):
    arrays = arrays_of(model, library)
    wrt = tuple(arrays[name] for name in model.parameters)
    value, slopes = value_and_grad(model.density({**arrays, **dict(marked)}), wrt)
    return [value, *slopes]


def lazily_with_data(model, library):
    return lazily(model, library, constant(model, arrays_of(model, library)))


def value_alone(model, library):
    return [model.density(arrays_of(model, library)).compute()]


def compiled(model, library, marked=None, out=False, **options):
    arrays = arrays_of(model, library)
    marked = marked(model, arrays) if marked else {}
    density, names = function_of(model, marked)
    function, given = compile_function(density, **options), [arrays[name] for name in names]
    for _ in range(2 if options.get("graph") else 1):
        value, slopes = function.value_and_grad(*given, wrt=model.parameters)
    if not out:
        return [value, *slopes]
    results = [library.full(each.shape, np.nan, each.dtype) for each in (value, *slopes)]
    function.value_and_grad(*given, wrt=model.parameters, out=tuple(results))
    return results


def into_arrays(model, library):
    return compiled(model, library, out=True)


def compiled_with_data(model, library):
    return compiled(model, library, marked=constant)


def graph(model, library):
    """Replayed as a CUDA graph, but where a call lies between kernels that cannot be captured."""
    try:
        return compiled(model, library, graph=True)
    except ValueError as error:
        if "cannot be captured" not in str(error):
            raise
        return compiled(model, library)


def chains(model, library, marked=None):
    arrays = arrays_of(model, library)
    marked = marked(model, arrays) if marked else {}
    density, names = function_of(model, marked)
    many = random_models.with_chains(model, number_of_chains(model))
    arrays |= {name: library.asarray(array) for name, array in many.items()}
    function = compile_function(density, in_axes=dict.fromkeys(model.parameters, 0))
    value, slopes = function.value_and_grad(*(arrays[name] for name in names), wrt=model.parameters)
    return [value, *slopes]


def chains_with_data(model, library):
    return chains(model, library, marked=constant)


def curvature(model, library):
    arrays = arrays_of(model, library)
    wrt = tuple(arrays[name] for name in model.parameters)
    return [*hvp(model.density(arrays), wrt, tangents(model, library))]


def number_of_chains(model):
    most = max(1, 300_000 // max(1, model.size))
    return min(CHAINS[model.seed % len(CHAINS)], most)


def tangents(model, library=np):
    rng = np.random.default_rng([model.seed, 3])
    directions = (rng.normal(size=model.given[name].base.shape) for name in model.parameters)
    return tuple(library.asarray(each.astype(model.dtype)) for each in directions)


def plain(model, arrays):
    """The reference: the value and the gradient, by the interpreter in float64."""
    with by_interpreter():
        value, slopes = value_and_grad(model.density(arrays), tuple(arrays[name] for name in model.parameters))
    return [np.asarray(value), *slopes]


def plain_curvature(model, arrays):
    wrt = tuple(arrays[name] for name in model.parameters)
    with by_interpreter():
        return [*hvp(model.density(arrays), wrt, tuple(each.astype(np.float64) for each in tangents(model)))]


def plain_chains(model, arrays):
    many = random_models.with_chains(model, number_of_chains(model))
    each = [
        plain(model, arrays | {name: np.array(array[chain], np.float64) for name, array in many.items()})
        for chain in range(number_of_chains(model))
    ]
    return [np.stack(results) for results in zip(*each, strict=True)]


WAYS = {
    lazily: plain, value_alone: plain, compiled: plain, into_arrays: plain, lazily_with_data: plain,
    compiled_with_data: plain, chains: plain_chains, chains_with_data: plain_chains, curvature: plain_curvature,
    graph: plain,
}  # fmt: skip
OFTEN = (lazily, compiled, compiled_with_data, chains, curvature)


def ways_of(model, target, many=3):
    """Some ways to compute a model, other ones for other models."""
    rng = np.random.default_rng([model.seed, 5])
    ways = [way for way in WAYS if target == "cuda" or way is not graph]
    weights = np.array([2.0 if way in OFTEN else 1.0 for way in ways])
    return [ways[place] for place in rng.choice(len(ways), many, replace=False, p=weights / weights.sum())]


def compare(model, found, wanted):
    """``AssertionError`` where results are not those of the reference, but for rounding."""
    rtol = RTOL[model.dtype.itemsize]
    for place, pair in enumerate(zip(found, wanted, strict=False)):
        mine, reference = (np.asarray(each.get() if hasattr(each, "get") else each) for each in pair)
        assert mine.shape == reference.shape, f"result {place} has shape {mine.shape}, not {reference.shape}"
        largest = np.max(np.abs(reference), initial=1.0, where=np.isfinite(reference))
        terms = 1.0 if mine.size * 4 > model.size else 1.0 + 0.01 * model.size  # of which a sum cancels
        np.testing.assert_allclose(
            mine, reference, rtol=rtol, atol=rtol * max(largest, terms), err_msg=f"result {place}"
        )


def check(model, way, library=np):
    with np.errstate(all="ignore"):
        wanted = WAYS[way](model, arrays_of(model, np, np.float64))
    compare(model, way(model, library), wanted)


def of_seed(seed, target, terms=3, many=3, kind="likelihoods"):
    """What went wrong with a seed, by the ways to compute it, ``many`` of them."""
    model = KINDS[kind](seed, terms=terms)
    library = np if target == "cpu" else __import__("cupy")
    complaints = {}
    for way in ways_of(model, target, many):
        try:
            with schedules_of(seed):
                check(model, way, library)
            complaints[way.__name__] = AGREES
        except NotImplementedError as error:  # a derivative that the library refuses, as it says
            complaints[way.__name__] = REFUSED if way is curvature else f"{model}\n{error}"
        except Exception:
            complaints[way.__name__] = f"{model}\n{traceback.format_exc()[-1500:]}"
    return seed, complaints


KINDS = {
    "likelihoods": random_models.model, "matrices": random_matrix_models.model, "layers": random_layer_models.model,
}  # fmt: skip


@contextmanager
def schedules_of(seed):
    """Every other seed takes rows for long ones that are not, so that few of them are done side by side on a GPU.

    Every third one takes eight chains at a time there.
    """
    batch = {"CACHE": 1, "WORTH": 1, "LEAST": 8, "ENOUGH": 8, "ALIKE": 1} if seed % 3 == 0 else {}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(few_rows, "LONG", 4 if seed % 2 else few_rows.LONG))
        for name, number in batch.items():
            stack.enter_context(mock.patch.object(batches, name, number))
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=("cpu", "cuda"))
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop; a fifth more for what has begun")
    parser.add_argument("--terms", type=int, default=3, help="the most of a model: few compile soon")
    parser.add_argument("--ways", type=int, default=3, help="of computing each")
    parser.add_argument("--kind", choices=(*KINDS,), default="likelihoods", help="of models")
    given = parser.parse_args()
    start, counts, seeds = time.time(), Counter(), []
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=10) as pool:
        options = (given.target, given.terms, given.ways, given.kind)
        tasks = ((start + given.seconds, seed, *options) for seed in range(given.first, given.last))
        for seed, complaints in _within(pool.imap_unordered(_in_time, tasks), start + 1.2 * given.seconds):
            seeds += [seed] if complaints else []
            for way, complaint in complaints.items():
                counts[way, complaint if complaint in VERDICTS else "differ"] += 1
                if complaint not in VERDICTS:
                    print(f"--- {way}: {complaint}", flush=True)
            if complaints and len(seeds) % 20 == 0:
                print(f"{len(seeds)} models after {time.time() - start:.0f} s", flush=True)
        pool.terminate()
    print(f"{len(seeds)} models on {given.target} in {time.time() - start:.0f} s, seeds {sorted(seeds)}")
    for (way, verdict), count in sorted(counts.items()):
        print(f"{way}: {count} {verdict}")
    sys.exit(any(verdict == "differ" for _, verdict in counts))


def _in_time(task):
    end, seed, *options = task
    return of_seed(seed, *options) if time.time() < end else (seed, {})


def _within(results, end):
    """Results until a time; what is being computed then is given up."""
    while True:
        try:
            yield results.next(timeout=max(0.1, end - time.time()))
        except (StopIteration, multiprocessing.TimeoutError):
            return


if __name__ == "__main__":
    main()
