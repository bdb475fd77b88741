"""The simulation of passes over rows on many machines: its limits are those that arithmetic gives."""

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def cluster():
    """The script, which lies beside others that it imports."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("cluster_on_paper", FOLDER / "cluster.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def free(cluster):
    """Costs of nothing but rows: a nanosecond each, of one core."""
    return cluster.Costs(1e-9, 0.0, 0.0, 100.0, latency=0.0, bandwidth=math.inf, uneven=0.0, cores=1)


@pytest.mark.parametrize(("chunks", "levels"), [
    (1, [1]), (2, [2, 1]), (8, [8, 1]), (9, [9, 2, 1]), (64, [64, 8, 1]), (65, [65, 9, 2, 1]),
])
def test_eight_parts_are_folded_at_a_time(cluster, chunks, levels):
    assert cluster.tree(chunks) == levels


@pytest.mark.parametrize("machines", [1, 4, 10])
def test_without_other_costs_every_core_computes(cluster, free, machines):
    found = cluster.simulated(10**9, 10**7, machines, free)
    assert found.seconds == pytest.approx(1.0 / machines) and found.efficiency == pytest.approx(1.0)
    assert (found.tasks, found.depth) == (100 + 13 + 2 + 1, 3)


def test_cores_without_a_chunk_wait(cluster, free):
    found = cluster.simulated(10**9, 10**9 // 3, 5, free)  # three whole chunks, and a row
    assert found.seconds == pytest.approx(1 / 3, rel=1e-6) and found.efficiency == pytest.approx(0.6, rel=1e-6)


def test_the_scheduler_hands_out_one_task_after_another(cluster, free):
    slow = replace(free, scheduled=1e-3, cores=1000)
    found = cluster.simulated(10**9, 10**6, 1, slow)
    assert found.seconds == pytest.approx(1e-3 * found.tasks, rel=0.01)


def test_each_level_of_the_tree_waits_for_messages(cluster, free):
    far = replace(free, latency=0.5, cores=64)
    found = cluster.simulated(64 * 10**6, 10**6, 2, far)
    assert found.depth == 2
    assert found.seconds == pytest.approx(1e-3 + 3 * 0.5 + 2 * 8 * 0.5, rel=1e-9), "a hand-over each, and eight parts"
    assert found.moved == 100.0 * (64 + 8) + 100.0 * 2


def test_uneven_times_are_the_same_for_a_seed(cluster, free):
    uneven = replace(free, uneven=0.3, cores=4)
    first, again, other = (cluster.simulated(10**9, 10**7, 2, uneven, seed).seconds for seed in (1, 1, 2))
    assert first == again != other and first > 0.125
