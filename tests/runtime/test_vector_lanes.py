"""Which loops tell LLVM how many turns a vector takes."""

import numpy as np
import pytest
from llvmlite import ir

import vecdist
from vecdist import lazy
from vecdist.runtime.lanes import blocks_of, lanes, mixes_widths

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
