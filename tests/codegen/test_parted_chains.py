"""Parts of a nest of chains that compute the same: one leaves it to the others, and the results are the same."""

from unittest import mock

import loop_executor
import numpy as np
import pytest
import random_chains
from test_common_values import statements
from test_data_layout import of_gradient

from vecdist import lazy
from vecdist.codegen import common_values
from vecdist.codegen.common_values import with_common_values
from vecdist.codegen.cuda import parted_chains
from vecdist.codegen.cuda.parted_chains import in_parts
from vecdist.graph.memo import Memo
from vecdist.kernel.statements import Load, Store, Temp

MOST = 2**26  # bytes of what is stored

@pytest.fixture(autouse=True)
def everything(monkeypatch):
    """Whatever is computed again is read."""
    monkeypatch.setattr(common_values, "SAVED", 1)
    monkeypatch.setattr(common_values, "_known", Memo(1))


def answers(seed, lengths=(1, 2, 3, 5)):
    (total, of_each), own = random_chains.answers(seed, lengths)
    return of_gradient(total + of_each.sum(), own)


def forced(kernel, lengths):
    with random_chains.settings():
        known = in_parts(kernel, lengths, MOST)
        return with_common_values(known, lengths, MOST) if known.by_block else kernel


def assert_same(kernel, arrays, lengths):
    """Loops give the same, to the bit, in parts; whether there are some."""
    other = forced(kernel, lengths)
    plain, parted = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(parted, plain, strict=False):  # and what parts leave to each other behind that
        np.testing.assert_array_equal(mine, wanted)
    return bool(other.by_block)


def test_random_answers():
    assert sum(assert_same(*answers(seed)) for seed in range(16)) > 6


def test_random_functions_of_chains():
    cases = [random_chains.case(seed, lengths=(1, 2, 3))[0] for seed in random_chains.SEEDS[::3]]
    for (total, _), wrt in cases:
        assert_same(*of_gradient(total, wrt))


@pytest.fixture
def gradient():
    """The gradient of answers of five persons to five questions, for five chains."""
    return answers(0, lengths=(5,))


def test_each_answer_is_computed_once(gradient):
    kernel, _, lengths = gradient
    other = forced(kernel, lengths)
    assert lengths[other.by_block] == 5
    first, second = other.block_nests()[-2:]
    stored = {item.output for item in first.body.walk() if isinstance(item, Store)}
    loads = [item.source for item in second.body.walk() if isinstance(item, Load)]
    read = {source.output for source in loads if isinstance(source, Temp)}
    assert [number for number in stored & read if other.outputs[number].common]
    assert statements(other) < statements(kernel)


def test_few_chains_stay_as_they_are(gradient):
    kernel, _, lengths = gradient
    assert in_parts(kernel, lengths, MOST) is kernel


def test_parts_that_have_nothing_in_common_stay_together():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 3, 1)), rng.normal(size=(2, 1, 4))
    kernel, _, lengths = of_gradient(np.sin(lazy(first)).sum() + np.cos(lazy(second)).sum(), [first, second])
    assert forced(kernel, lengths) is kernel


def test_parts_that_take_longer_stay_together(gradient):
    kernel, _, lengths = gradient
    with random_chains.settings(), mock.patch.object(parted_chains, "GAIN", 100):
        assert in_parts(kernel, lengths, MOST) is kernel
