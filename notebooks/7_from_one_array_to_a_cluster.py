# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From one array to a cluster
#
# A log density over many rows is a sum, and a sum can be taken piece by piece. So nothing changes in a model when its
# rows no longer fit into one array, into memory, or on one machine: only where the rows come from does. This page takes
# the same regression through four places, and then asks when each of them pays.

# %%
import tempfile
import time

import dask.array
import numpy as np
from distributed import Client, LocalCluster

import vecdist
from vecdist import logpdf
from vecdist.distributions import Normal, Poisson

# %% [markdown]
# The model is a Poisson regression on made rows: few enough here that each place can be tried.

# %%
rng = np.random.default_rng(7)
rows = 60_000
dose = rng.normal(size=(rows, 3))
truth = np.array([0.4, -0.2, 0.1])
count = rng.poisson(np.exp(dose @ truth)).astype(float)


def density(slopes, dose, count):
    likelihood = logpdf(Poisson(np.exp(dose @ slopes)), count).sum()
    return likelihood + logpdf(Normal(0.0, 1.0), slopes).sum()


# %% [markdown]
# ## 1. One array
#
# `compile` gives a function of arrays; its value and gradient are one kernel, shared by the processor's threads.

# %%
fast = vecdist.compile(density)
value, slope = fast.value_and_grad(truth, dose, count, wrt=0)
value, slope

# %% [markdown]
# ## 2. A file, in pieces
#
# Rows that do not fit into memory stay in a file. `chunked` says how many are read at a time; a thread reads the next
# ones while the kernel runs. Any array that reads a slice of itself will do: `np.memmap`, Zarr, HDF5.

# %%
with tempfile.TemporaryFile() as opened:
    on_disk = np.memmap(opened, np.float64, "w+", shape=dose.shape)
on_disk[:] = dose
pieces = [vecdist.chunked(array, rows=15_000) for array in (on_disk, count)]
from_file = fast.value_and_grad(truth, *pieces, wrt=0)
from_file

# %% [markdown]
# ## 3. Dask, on this machine
#
# A Dask array is a plan for an array, cut into chunks: it may read Parquet, or be made of other arrays. Each chunk is a
# task with one kernel, and the parts of the sum are added in a tree.

# %%
chunks = [dask.array.from_array(array, chunks=(15_000, *array.shape[1:])) for array in (dose, count)]
by_threads = fast.value_and_grad(truth, *chunks, wrt=0)
by_threads

# %% [markdown]
# ## 4. A cluster
#
# With a `Client` the same call runs where the client says: here two workers of this process, elsewhere machines that
# Slurm, Kubernetes or a cloud has given. The tree depends on the number of chunks alone, so any number of workers gives
# the same bits.

# %%
with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
    with Client(cluster):
        by_cluster = fast.value_and_grad(truth, *chunks, wrt=0)

same = [np.array_equal(mine, theirs) for mine, theirs in zip(by_cluster, by_threads, strict=True)]
same

# %% [markdown]
# ## What it costs, and when it pays
#
# A pass over `n` rows on `c` cores takes about
#
# $$ \frac{n\,t}{c} + \frac{n}{r}\,s + \log_8\!\left(\frac{n}{r}\right) m $$
#
# where a row takes a core the time $t$, a chunk has $r$ rows, a task costs the scheduler $s$, of which there is one,
# and a part of the sum takes $m$ to travel. The first term is the work; the second is what limits a cluster. A chunk
# should take a core so long that the scheduler can hand out all others meanwhile: $r\,t \geq 20\,c\,s$ leaves 95 % of
# the cores' time to the work, even if they waited for each task.


# %%
def seconds(call, tries=5):
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


small = [dask.array.from_array(array[:64], chunks=(1, *array.shape[1:])) for array in (dose, count)]
one = seconds(lambda: fast.value_and_grad(truth, dose, count, wrt=0))
tasks = seconds(lambda: fast.value_and_grad(truth, *small, wrt=0))
t, s = one / rows, tasks / 64
f"a row takes {t * 1e9:.1f} ns, a task {s * 1e3:.2f} ms"


# %%
def chunk_that_pays(cores):
    """How many rows a chunk should have, at least, for 95 % of the cores' time."""
    return int(20 * cores * s / t)


{cores: f"{chunk_that_pays(cores):.0e} rows" for cores in (4, 32, 3200)}

# %% [markdown]
# So one machine needs no cluster before its rows fill its memory: threads share a kernel at no such cost, and a file is
# read as fast as the disk is. From some $10^9$ rows on, what many machines bring is their memory and their disks.
# `benchmarks/cluster.py` simulates passes over $10^{12}$ rows with what a row and a task cost on the machine where it
# runs, and `benchmarks/CLUSTER.md` has its tables.
