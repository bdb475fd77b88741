"""What an expression becomes, as told by explain: every number against one worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

import vecdist
from vecdist.codegen.cuda.grid import THREADS
from vecdist.distributions import Gamma, Normal
from vecdist.graph.leaves import leaf
from vecdist.inspect.costs import notes, placement, traffic
from vecdist.inspect.explain import explain
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Accumulate, Load, Store, Temp, Total
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import Bound, bind
from vecdist.runtime import pipeline
from vecdist.runtime.base import Program

pytestmark = pytest.mark.usefixtures("uncompiled")  # what is told of a kernel is known without compiling it

N = 1000


def named(array, name):
    return vecdist.lazy(np.asarray(array), name)


def kernel_of(expr, wrt=None):
    (kernel,) = explain(expr, wrt).kernels
    return kernel


def density(family=Normal):
    """A density with its first parameter per row and one scale, at a matrix: 20 rows of 30."""
    first, scale, x = named(np.ones((20, 1)), "first"), named(2.0, "scale"), named(np.ones((20, 30)), "x")
    return vecdist.logpdf(family(first, scale), x)


def groups(indices=N, length=5):
    """Data in groups, each with a mean of its own."""
    group, mu = named(np.arange(indices) % length, "group"), named(np.ones(length), "mu")
    return vecdist.logpdf(Normal(mu[group], 2.0), named(np.ones(indices), "y")).sum()


def regression(rows=N, columns=4):
    x, beta = named(np.ones((rows, columns)), "X"), named(np.ones(columns), "beta")
    return vecdist.logpdf(Normal(x @ beta, 2.0), named(np.ones(rows), "y")).sum()


def scaled(rows=N, columns=4):
    """A function of each column, which the rows need."""
    x, s = named(np.ones((rows, columns)), "X"), named(np.ones(columns), "s")
    return (x / np.exp(s)).sum(axis=1)


class OnGpu(Program):
    """What a program on a GPU says of itself."""

    source = None

    def prepared(self, lengths, shapes, feeds):
        raise NotImplementedError

    def lanes(self, loop, lengths):
        return 4

    def resources(self):
        return {"registers": 32}


def gpu_notes(expr, *wrt):
    """The notes on a kernel for a GPU, by the rules of every backend."""
    bound = bind((expr.node, *(array.node for array in wrt)))
    _, kernel = pipeline.lower(bound, gradient_of if wrt else pipeline.values, "raise")
    return notes(pipeline.Plan((), kernel, OnGpu()), bound, ["value", *("gradient" for _ in wrt)], "cuda:0")


def test_a_sum_reads_its_array_and_writes_a_number():
    kernel = kernel_of(vecdist.lazy(np.ones(N, np.float32)).sum())
    assert (kernel.bytes_read, kernel.bytes_written, kernel.launches) == (4 * N, 4, 1)


def test_values_and_partials_of_three_arrays():
    a, b, c = (vecdist.lazy(np.ones(N, np.float32)) for _ in range(3))
    kernel = kernel_of(np.sqrt(a * b) * c, wrt=(a, b, c))
    assert (kernel.bytes_read, kernel.bytes_written) == (3 * 4 * N, 4 * 4 * N)


def test_a_gradient_reads_each_array_once():
    x, y = vecdist.lazy(np.ones((30, 20))), vecdist.lazy(np.ones((30, 1)))
    kernel = kernel_of((x * y * x).sum(), wrt=(y,))
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (600 + 30), 8 * (1 + 30))


def test_numbers_are_arguments_and_no_memory():
    kernel = kernel_of(2.5 * vecdist.lazy(np.ones(N)) + 1)
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * N, 8 * N)


@pytest.mark.parametrize(
    ("function", "elements"),
    [
        (lambda x: x[::4].sum(), N // 4),
        (lambda x: x[5] * 2.0, 1),
        (lambda x: (x[1:] - x[:-1]).sum(), N),
        (lambda x: x[::-1] * x, N),
        (lambda x: ((x - x.sum()) * x).sum(), N),
    ],
)
def test_elements_are_counted_once_and_only_those_touched(function, elements):
    assert kernel_of(function(vecdist.lazy(np.ones(N)))).bytes_read == 8 * elements


def test_repeated_elements_are_one_in_memory():
    repeated = np.broadcast_to(np.arange(5.0), (100, 5))
    assert kernel_of(vecdist.lazy(repeated) * 2.0).bytes_read == 8 * 5


def test_an_empty_array_moves_nothing():
    kernel = kernel_of(vecdist.lazy(np.ones((0, 3))) * 2.0)
    assert (kernel.bytes_read, kernel.bytes_written) == (0, 0)


def test_a_temporary_array_is_written_and_read():
    root = Block()
    first, second = Block(root, "i0"), Block(root, "i1")
    f8 = np.dtype(float)
    root.put(0, Loop("n0", first))
    first.put(0, Load("v0", 0, (Name("i0"),), f8))
    first.put(0, Store(1, (Name("i0"),), Name("v0")))
    root.put(1, Loop("n0", second))
    second.put(0, Load("v1", Temp(1), (Name("i1"),), f8))
    second.put(0, Accumulate("a0", Name("v1"), root, f8))
    root.put(2, Total("v2", "a0", f8))
    root.put(2, Store(0, (), Name("v2")))
    slots = (Slot(0, "dense", (), ("n0",), f8),)
    kernel = Kernel(root, slots, (Output((), f8), Output(("n0",), f8, temporary=True)), ("n0",), flagged=False)
    bound = Bound((), (leaf(np.ones(N)).attrs[0],), {"n0": N})
    assert traffic(kernel, bound, "cpu") == (8 * (N + N), 8 * (1 + N))
    assert placement(kernel)["per n0"] == {"load": 2, "store": 1, "add to sum": 1}


def test_work_stands_where_its_inputs_stop_varying():
    x = np.ones((20, 30))
    scalar, row = named(2.0, "scalar"), named(np.ones((20, 1)), "row")
    found = kernel_of((np.sqrt(scalar) * np.exp(row) * np.log(vecdist.lazy(x))).sum()).placement
    assert found["once"]["sqrt"] == found["per n0"]["exp"] == found["per n0, n1"]["log"] == 1
    assert list(found) == ["once", "per n0", "per n0, n1"]
    everywhere = [op for ops in found.values() for op in ops]
    assert [everywhere.count(op) for op in ("sqrt", "exp", "log")] == [1, 1, 1]


def test_special_functions_of_a_row_parameter_are_per_row_with_their_derivatives():
    found = kernel_of(density(Gamma).sum(), wrt=("first", "scale")).placement
    assert found["per n0"]["lgamma"] == found["per n0"]["digamma"] == 1
    assert not {"lgamma", "digamma"} & (found["once"].keys() | found["per n0, n1"].keys())


def test_primitives_stand_in_the_outline_and_their_expansions_in_the_loop_nest():
    kernel = kernel_of(np.exp(vecdist.lazy(np.ones(N))))
    assert "exp(" in kernel.outline and "exp(" not in kernel.loop_nest
    assert "for i0 < n0:" in kernel.outline and "for i0 < n0:" in kernel.loop_nest
    assert sum(kernel.statements.values()) > sum(kernel.placement["per n0"].values())
    assert "n0 = 1000" in kernel.loop_nest


def test_the_source_is_the_program_that_runs():
    x = vecdist.lazy(np.ones(N))
    kernel = kernel_of(x + 1.0)
    assert kernel.source == kernel.program.source.text and "def kernel(" in kernel.source
    assert kernel.registers is None and kernel.device == "cpu"


def test_registers_are_told_on_a_gpu():
    kernel = replace(kernel_of(vecdist.lazy(np.ones(N)) + 1.0), device="cuda:0", program=OnGpu())
    assert kernel.registers == 32 and ("registers per thread", "32") in kernel.facts()


def test_loops_that_wait_are_explained():
    x = vecdist.lazy(np.ones(N))
    centred = ((x - x.mean()) ** 2).sum()
    (note,) = kernel_of(centred).notes
    assert note.startswith("2 loops run one after another (over n0, then n0)") and "barrier" not in note
    (note,) = gpu_notes(centred)
    assert note.startswith("2 loops run one after another (over n0, then n0)") and "at a barrier" in note
    assert kernel_of((x * x).sum()).notes == gpu_notes((x * x).sum()) == ()


def test_indexing_by_arrays_is_explained():
    kernel = kernel_of(groups(), wrt="mu")
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (N + N + 5), 8 * (1 + 5))
    assert kernel.placement["per n0"]["gather"] == kernel.placement["per n0"]["add by index"] == 1
    gathered, added, _ = kernel.notes
    assert gathered == "x1 (mu) is gathered: the loop over n0 reads those elements that are named by index"
    assert added.startswith("the loop over n0 adds to o1 (gradient in mu) by index, in stripes")
    assert "o1: float64[n1], gradient in mu, added up" in kernel.outline


def test_no_more_elements_are_gathered_than_there_are_indices():
    assert kernel_of(groups(3, length=N)).bytes_read == 8 * (3 + 3 + 3)
    assert kernel_of(groups(3, length=N), wrt="mu").bytes_written == 8 * (1 + N)


def test_an_index_that_is_computed_twice_names_the_same_elements():
    x, group = named(np.ones(N), "x"), named(np.arange(7), "group")
    picked = x[group]
    kernel = kernel_of(np.square(picked - picked.sum()).sum())
    assert kernel.outline.count("gather") == 0 and sum(ops.get("gather", 0) for ops in kernel.placement.values()) == 2
    assert kernel.bytes_read == 8 * (7 + 7)


def test_additions_by_index_are_atomic_on_a_gpu():
    mu = named(np.ones(5), "mu")
    _, added = gpu_notes((mu[named(np.zeros(N, int), "group")] * 2.0).sum(), mu)
    assert "adds to o1 (gradient) by index, by atomic additions" in added


def test_sums_over_rows_are_explained():
    kernel = kernel_of(regression(), wrt="beta")
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (4 * N + N + 4), 8 * (1 + 4))
    assert kernel.placement["per n0, n1"]["add to element"] == 1 and "per n1, n0" not in kernel.placement
    assert kernel.notes[0].startswith("4 sums, o1 (gradient in beta), are added up row by row")
    assert kernel.notes[0].endswith("in stripes with sums of their own, which are added up in a fixed order")


def test_sums_over_few_rows_are_added_up_row_by_row_too():
    """On the CPU no length asks for another program."""
    kernel = kernel_of(regression(rows=4, columns=100), wrt="beta")
    assert "per n0, n1" in kernel.placement and any("row by row" in note for note in kernel.notes)


def test_rows_on_a_gpu_are_explained(monkeypatch):
    x, beta = named(np.ones((N, 4)), "X"), named(np.ones(4), "beta")
    tall, lanes = gpu_notes(np.square(x @ beta).sum(), beta)
    assert tall.startswith("4 sums, o1 (gradient), are added up row by row") and "slots of its own" in tall
    assert lanes == "4 threads share each row of the loop over n0"
    monkeypatch.setattr(OnGpu, "lanes", lambda self, loop, lengths: THREADS)
    assert gpu_notes(x.prod(axis=1)) == ("a block of threads takes each row of the loop over n0",)


def test_values_kept_across_rows_are_explained():
    kernel = kernel_of(scaled())
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (4 * N + 4 + 4), 8 * (N + 4))
    assert kernel.placement["per n1"]["exp"] == 1 and "exp" not in kernel.placement["per n0, n1"]
    assert "o0: float64[n1], kept" in kernel.outline
    (note,) = [note for note in kernel.notes if note.startswith("o0")]
    assert note.startswith("o0 (float64[n1]) is a temporary array of 4 elements: values that the loop over n0 would")
    assert not any("one after another" in note for note in kernel.notes)


def test_values_kept_across_rows_stay_in_the_blocks_of_a_gpu():
    expr = scaled()
    bound = bind((expr.node,))
    _, kernel = pipeline.lower(bound, pipeline.values)
    assert traffic(kernel, bound, "cuda:0") == (8 * (4 * N + 4), 8 * N)
    assert gpu_notes(expr)[0].endswith("kept in the shared memory of each block")


def test_results_that_are_read_in_another_order_are_explained():
    x = named(np.ones((N, 4)), "X")
    kernel = kernel_of((x - x.mean(axis=0)).prod(axis=1))
    assert kernel.bytes_written == 8 * (N + 4 + 4)  # sums, and means, which are found once
    (note,) = [note for note in kernel.notes if note.startswith("o1")]
    assert note.endswith("a temporary array of 4 elements: results that the loop over n0 reads in another order")


@pytest.mark.parametrize(
    ("make", "wrt"), [(groups, "mu"), (regression, "beta"), (scaled, None), (lambda: scaled().prod(), ("X", "s"))]
)
def test_the_outline_has_the_loops_and_arrays_of_the_kernel(make, wrt):
    kernel = kernel_of(make(), wrt)
    assert kernel.outline.partition("\n\n")[0] == kernel.loop_nest.partition("\n\n")[0]
    assert kernel.outline.count("for ") == kernel.loop_nest.count("for ")


def test_what_is_computed_once_from_data_is_explained():
    x, shape = np.linspace(0.5, 2.0, N), named(2.0, "shape")
    kernel = kernel_of(vecdist.logpdf(Gamma(shape, 1.0), vecdist.data(x)).sum(), wrt=())
    assert kernel.notes[0].startswith("computed once from data that never change: x") and "support" in kernel.notes[0]
    assert kernel.bytes_read < 8 * N and "float64, computed before" in kernel.loop_nest


def test_reductions_are_explained():
    x = named(np.ones((N, 4)), "X")
    per_element = kernel_of(x.max(axis=1) + x.min(axis=1) * x.prod(axis=1)).placement["per n0, n1"]
    assert per_element == {"load": 1, "keep largest": 1, "keep smallest": 1, "multiply into product": 1}
    largest_first = kernel_of(vecdist.logsumexp(x, axis=1)).placement["per n0, n1"]
    assert largest_first["keep largest"] == largest_first["add to sum"] == largest_first["shifted_exp"] == 1


def test_the_graph_line_by_line():
    x = named(np.ones((4, 3), np.float32), "x")
    root = np.sqrt(x)
    expr = (root * 0.5 + root[1:2]).sum(axis=1)
    assert explain(expr).graph.splitlines() == [
        "x0 = array x            float32[4, 3]",
        "%0 = sqrt(x0)           float32[4, 3]",
        "%1 = mul(%0, 0.5)       float32[4, 3]",
        "%2 = %0[1:2, :]         float32[1, 3]",
        "%3 = add(%1, %2)        float32[4, 3]",
        "%4 = sum(%3, axis=1)    float32[4, 1]",
        "%5 = reshape(%4)        float32[4]       value",
    ]


def test_the_graph_names_what_is_picked_and_reduced():
    x, group = named(np.ones((4, 3)), "x"), named(np.arange(2), "group")
    graph = explain(vecdist.logsumexp(x[:, group], axis=1).max()).graph
    assert "= x1[:, %" in graph and "indexing axis 1 of length 3: index x0 if %" in graph
    assert "= logsumexp(%" in graph and ", axis=1)" in graph and "= max(%" in graph
    derived = explain(x[:, group].sum(), wrt="x").derived
    assert "added up at [:, %" in derived


def test_the_graph_shows_a_density_in_full():
    graph = explain(density()).graph
    (line,) = [line for line in graph.splitlines() if "checked(" in line]
    assert "Normal: loc x0 if %" in line and line.endswith("value")
    assert "square(" in graph and "log(" in graph


def test_the_derived_graph_names_its_results():
    x = named(np.ones(N), "x")
    explanation = explain((x * x).sum(), wrt="x")
    assert explanation.derived.count("    value") == 1
    assert explanation.derived.splitlines()[-1].endswith("gradient in x")
    assert "float64[n0]" in explanation.derived
    assert "o1: float64[n0], gradient in x" in explanation.kernels[0].loop_nest


def test_explaining_compiles_once_and_never_runs(monkeypatch):
    x = np.linspace(1.0, 2.0, 17)
    expr = (np.sqrt(vecdist.lazy(x)) * 3.25).sum()
    with monkeypatch.context() as patch:
        patch.setattr("vecdist.runtime.cpu.backend.CpuProgram.prepared", None)
        explain(expr, wrt=(x,))
    compiled = pipeline.compilations()
    explain(expr, wrt=(x,))
    vecdist.value_and_grad(expr, wrt=(x,))
    assert pipeline.compilations() == compiled


def by_chains(function, **settings):
    return vecdist.compile(function, in_axes={"mu": 0}, **settings)


@pytest.mark.parametrize("unnormalised", [False, True])
@pytest.mark.parametrize(("wrt", "written"), [(None, 4), ("mu", 4 + 4), (("mu", "x"), 4 + 4 + 4 * 100)])
def test_chains_of_a_compiled_function_are_those_that_a_call_computes(wrt, written, unnormalised):
    function = by_chains(lambda mu, x: vecdist.logpdf(Normal(mu, 2.0), x).sum(), unnormalised=unnormalised)
    mu, x = np.linspace(0.0, 1.0, 4), np.linspace(-1.0, 1.0, 100)
    value, gradients = (function(mu, x), ()) if wrt is None else function.value_and_grad(mu, x, wrt=wrt)
    before = pipeline.compilations()
    explanation = explain(function, wrt, (mu, x))
    assert pipeline.compilations() == before
    (kernel,) = explanation.kernels
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (4 + 100), 8 * written)
    assert "x0: float64[4], mu" in kernel.loop_nest and ("gradient in mu" in explanation.derived) == (wrt is not None)
    results, _ = explanation.prepare()()
    expected = [value, *(gradients if isinstance(gradients, tuple) else (gradients,))]
    for found, each in zip(results, expected, strict=True):
        np.testing.assert_array_equal(np.reshape(found, each.shape), each)


def test_partials_of_chains_are_explained():
    explanation = explain(by_chains(lambda mu, x: mu * x), wrt=(0, "x"), arrays=(np.ones(3), np.ones(5)))
    assert explanation.kernels[0].bytes_written == 3 * 8 * (3 * 5)
    assert "partial in mu" in explanation.kernels[0].loop_nest


@pytest.mark.parametrize("lead", [(), (1,), (5,), (2, 3)])
def test_a_batch_of_a_log_density_is_explained(lead):
    y = np.ones(100)
    density = vecdist.LogDensity(lambda mu: vecdist.logpdf(Normal(mu, 1.0), y).sum(), mu=vecdist.parameters.real())
    x, count = np.zeros((*lead, 1)), max(1, int(np.prod(lead)))
    (kernel,) = explain(density, "x", (x,)).kernels
    assert (kernel.bytes_read, kernel.bytes_written) == (8 * (count + 100), 8 * (count + count))
    assert explain(density, arrays=(x,)).kernels[0].bytes_written == 8 * count


def test_wrong_arguments():
    with pytest.raises(TypeError, match="explain wants a lazy array, a compiled function or a log density, not ndar"):
        explain(np.ones(3))
    density = vecdist.LogDensity(lambda mu: -mu * mu, mu=vecdist.parameters.real())
    with pytest.raises(ValueError, match="has one argument, \"x\"; given 0 arrays and wrt='mu'"):
        explain(density, "mu")
    with pytest.raises(ValueError, match="wrt names 'sigma', which is no argument"):
        explain(by_chains(lambda mu: mu), "sigma", (np.ones(3),))
    with pytest.raises(ValueError, match="not in the expression"):
        explain(vecdist.lazy(np.ones(3)).sum(), wrt=(np.ones(3),))


def test_an_explanation_as_text():
    text = str(explain(density(), wrt=("first",)))
    assert text == repr(explain(density(), wrt=("first",)))
    for part in ("LazyArray(shape=(20, 30)", "1 launch on cpu", "per n0, n1", "for i0 < n0:", "partial in first"):
        assert part in text
