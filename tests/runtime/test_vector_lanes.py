"""Which loops tell LLVM how many turns a vector takes."""

import numpy as np
import pytest
from llvmlite import ir

import vecdist
from vecdist import lazy
from vecdist.kernel.code import Do, For, let
from vecdist.kernel.expressions import Constant, Name
from vecdist.runtime.lanes import blocks_of, known_lengths, lanes, mixes_widths, most_turns

I64, F4, F8 = ir.IntType(64), ir.FloatType(), ir.DoubleType()


@pytest.mark.parametrize(
    ("index", "value", "mixed"), [(I64, F4, True), (ir.IntType(32), F4, False), (I64, F8, False)], ids=str
)
def test_loops_of_indices_and_numbers_of_other_widths(index, value, mixed):
    kind = ir.FunctionType(ir.VoidType(), [index.as_pointer(), value.as_pointer()])
    function = ir.Function(ir.Module(), kind, "turns")
    body, end = function.append_basic_block("do"), function.append_basic_block("done")
    builder = ir.IRBuilder(body)
    place, x = builder.load(function.args[0]), builder.load(function.args[1])
    builder.store(builder.fadd(x, x), builder.gep(function.args[1], [place]))
    assert blocks_of(body, end) == [body]
    assert mixes_widths([body]) is mixed
    builder.branch(function.append_basic_block("while"))
    assert len(blocks_of(body, end)) == 2
    assert not mixes_widths(blocks_of(body, end))


def test_a_vector_holds_some_numbers():
    assert lanes() in {4, 8, 16}


def test_picked_numbers_in_single_precision_are_the_same_whatever_the_index_is():
    rng = np.random.default_rng(3)
    effects, seen = rng.normal(size=20).astype("f4"), rng.normal(size=1000).astype("f4")
    found = []
    for kind in ("i1", "i4", "i8", "u2"):
        group = (np.arange(1000) % 20).astype(kind)
        density = vecdist.logpdf(vecdist.distributions.Normal(lazy(effects)[group], 1.0), seen).sum()
        found.append((density.item(), vecdist.value_and_grad(density, effects)[1].tobytes()))
    assert len({gradient for _, gradient in found}) == 1
    np.testing.assert_allclose([value for value, _ in found], found[0][0], rtol=1e-6)


def test_the_compiler_says_nothing_of_loops_too_short_for_a_vector(capfd, monkeypatch, tmp_path):
    """Where their elements lie apart it finds that no vector takes what it was told to, and would say so."""
    monkeypatch.setenv("VECDIST_CACHE_DIR", str(tmp_path))
    x, weights = np.random.default_rng(2).normal(size=(14, 3, 5, 14)).astype("f4"), np.ones((3, 5, 14), "f4")
    density = vecdist.compile(lambda x, y: (vecdist.logsumexp(x.reshape(14, 3, 5, 14), axis=0) * y).sum())
    density.value_and_grad(x.ravel(), weights)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("start", "stop", "turns"), [(0, "n", 64), (0, "m", 3), (0, "other", None), ("first", "stop", 5), ("block", "m", 3)]
)
def test_known_turns_of_loops(start, stop, turns):
    """Those of lengths that a function begins with, and of their strips."""
    known = known_lengths([Do(Name("widest")()), let("n", Constant(64)), let("m", Constant(3))]) | {"first": 5}
    first = Constant(start) if isinstance(start, int) else Name(start)
    assert most_turns(For("i", Name(stop), (), first), known) == turns
