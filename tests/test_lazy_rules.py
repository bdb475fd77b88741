"""Calls whose derivatives are lazy expressions: of first and second order, against the same formulas without calls."""

import numpy as np
import pytest
from interpreting import by_interpreter

import vecdist
from vecdist import external, lazy

rng = np.random.default_rng(20261126)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


# Of each: the call by a pull rule, and by a push rule, and the same as an expression
PAIRS = {
    "sine": (
        (np.sin, None),
        lambda a, r, back: (back[0] * np.cos(a[0]),), lambda a, r, dots: dots[0] * np.cos(a[0]), np.sin, 1,
    ),
    "softmax": (
        (softmax, None),
        lambda a, r, back: (r[0] * (back[0] - (r[0] * back[0]).sum()),),
        lambda a, r, dots: r[0] * (dots[0] - (r[0] * dots[0]).sum()),
        lambda x: np.exp(x) / np.exp(x).sum(), 1,
    ),
    "matrix and vector": (
        (lambda a, b: a @ b, lambda a, b: a[:-1]),
        lambda a, r, back: (back[0][:, None] * a[1], (a[0] * back[0][:, None]).sum(axis=0)),
        lambda a, r, dots: (dots[0] * a[1]).sum(axis=1) + (a[0] * dots[1]).sum(axis=1),
        lambda a, b: (a * b).sum(axis=1), 2,
    ),
    "square and sum": (
        (lambda x: (x * x, x.sum()), lambda x: (x, ())),
        lambda a, r, back: (2.0 * a[0] * back[0] + back[1],),
        lambda a, r, dots: (2.0 * a[0] * dots[0], dots[0].sum()),
        lambda x: (x * x, x.sum()), 1,
    ),
}  # fmt: skip


def calls(name):
    (forward, shape), vjp, jvp, formula, count = PAIRS[name]
    given = [{"vjp": vjp}, {"jvp": jvp}, {"vjp": vjp, "jvp": jvp}]
    return [external(forward, shape=shape, name=name, lazy_rules=True, **each) for each in given], formula, count


def scalar(results, weights):
    """A number of all results, which is not linear in them."""
    every = results if isinstance(results, tuple) else (results,)
    return sum((np.sin(each) * weight).sum() for each, weight in zip(every, weights, strict=False))


def arrays(name, lengths):
    n, m = lengths
    return [rng.normal(size=shape) for shape in ([(n, m), (m,)] if PAIRS[name][4] == 2 else [(n,)])]


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("lengths", [(3, 4), (5, 5), (1, 3), (4, 1)])
def test_both_rules_follow_from_either(name, lengths):
    """Gradients, derivatives along directions and products with Hessians."""
    given = arrays(name, lengths)
    leaves, along = [lazy(each) for each in given], [rng.normal(size=each.shape) for each in given]
    made, formula, _ = calls(name)
    weights = [0.75, 1.5]
    right = scalar(formula(*leaves), weights)
    with by_interpreter():
        expected = vecdist.value_and_grad(right, leaves)[1]
        tangent = vecdist.jvp(right, leaves, along)[1]
        curved = vecdist.hvp(right, leaves, along)
    for call in made:
        found = scalar(call(*leaves), weights)
        for one, other in zip(vecdist.value_and_grad(found, leaves)[1], expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(vecdist.jvp(found, leaves, along)[1], tangent, rtol=1e-11, atol=1e-13)
        for one, other in zip(vecdist.hvp(found, leaves, along), curved, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_of_calls_and_formulas(seed):
    """Hessians of calls inside of calls, of one random length each."""
    draw = np.random.default_rng(seed)
    sine, soft = calls("sine"), calls("softmax")
    steps = [(int(draw.integers(3)), int(draw.integers(3))) for _ in range(4)]
    x = lazy(draw.normal(size=int(draw.integers(1, 7))))

    def run(first, second):
        y = x
        for kind, rule in steps:
            y = (first(y, rule) * y, second(y, rule) + 0.5 * y, np.tanh(y) * y.sum())[kind]
        return (y * y).sum()

    found = run(lambda y, rule: sine[0][rule](y), lambda y, rule: soft[0][rule](y))
    right = run(lambda y, rule: np.sin(y), lambda y, rule: soft[1](y))
    with by_interpreter():
        wanted = np.asarray(vecdist.hessian(right, x))
    np.testing.assert_allclose(np.asarray(vecdist.hessian(found, x)), wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", ["sine", "softmax"])
def test_chains(name):
    made, formula, _ = calls(name)
    many = rng.normal(size=(3, 5))
    right = vecdist.compile(lambda x: scalar(formula(x), [1.0]), in_axes=(0,)).value_and_grad(many)
    for call in made:
        found = vecdist.compile(lambda x: scalar(call(x), [1.0]), in_axes=(0,)).value_and_grad(many)  # noqa: B023
        np.testing.assert_allclose(found[0], right[0], rtol=1e-12)
        np.testing.assert_allclose(found[1][0], right[1][0], rtol=1e-11, atol=1e-14)


def test_rules_are_parts_of_kernels_and_share_programs():
    made, _, _ = calls("sine")
    x = lazy(rng.normal(size=5), "x")
    notes = [note for kernel in vecdist.explain(np.exp(made[0](x)).sum(), wrt=(x,)).kernels for note in kernel.notes]
    assert any("sine is called" in note for note in notes) and not any("vjp" in note for note in notes)
    for length in (2, 7, 9):
        made[0](lazy(np.ones(length)))
    assert len({id(call) for call in made[0]._rules.calls.values()}) == 1


def test_numbers_of_a_shape_are_numbers_of_a_rule():
    average = external(
        np.mean, vjp=lambda a, r, back: (back[0] / a[0].shape[0] + 0.0 * a[0],), shape=lambda x: (), lazy_rules=True,
    )  # fmt: skip
    for length in (1, 3, 8):
        x = np.arange(1.0, length + 1.0)
        leaf = lazy(x)
        _, slope = vecdist.value_and_grad(average(leaf) ** 2, leaf)
        np.testing.assert_allclose(slope, np.full(length, 2.0 * x.mean() / length), rtol=1e-14)


def test_a_rule_may_call():
    """What another library does, and gives the same for each order."""
    cosine = external(np.cos, vjp=lambda a, r, back: (-back[0] * np.sin(a[0]),), lazy_rules=True)
    sine = external(np.sin, vjp=lambda a, r, back: (back[0] * cosine(a[0]),), lazy_rules=True)
    x = rng.normal(size=4)
    leaf = lazy(x)
    np.testing.assert_allclose(np.asarray(vecdist.hessian(sine(leaf).sum(), leaf)), np.diag(-np.sin(x)), rtol=1e-14)


def test_arguments_without_a_cotangent():
    """What a rule needs beside its arrays is an argument, too."""
    scaled = external(lambda x, w: x * w, vjp=lambda a, r, back: (back[0] * a[1], None), lazy_rules=True)
    x, w = lazy(rng.normal(size=4)), lazy(np.arange(4.0))
    _, (of_x, of_w) = vecdist.value_and_grad((scaled(x, w) ** 2).sum(), (x, w))
    np.testing.assert_allclose(of_x, 2.0 * x.compute() * w.compute() ** 2, rtol=1e-14)
    np.testing.assert_array_equal(of_w, np.zeros(4))


X = np.linspace(0.5, 1.5, 4)


@pytest.mark.parametrize(("rules", "error", "said"), [
    ({"vjp": lambda a, r, back: (back[0].sum(),)}, ValueError,
     r"vjp of wave gives an expression of shape \(\) where argument 0 has \(4,\)"),
    ({"vjp": lambda a, r, back: back[0]}, ValueError, "vjp of wave gives a tuple, of an expression or None for each"),
    ({"jvp": lambda a, r, dots: (dots[0], dots[0])}, ValueError, "jvp of wave gives a tuple, .* of 1 results"),
    ({"jvp": lambda a, r, dots: dots[0][:2]}, ValueError,
     r"jvp of wave gives an expression of shape \(2,\) where result 0 has \(4,\)"),
    ({"vjp": lambda a, r, back: (back[0] * X,)}, ValueError, r"a lazy rule of wave reads float64\[4\], which is none"),
    ({"vjp": lambda a, r, back: (back[0] * a[0][1:].sum(),)}, NotImplementedError, "a lazy rule of wave has a length"),
    ({"vjp": external(np.cos)}, TypeError, "the rules of wave are calls"),
], ids=["shape", "no tuple", "too many", "tangent", "array", "slice", "call"])  # fmt: skip
def test_what_does_not_fit_is_told_before_it_runs(rules, error, said):
    with pytest.raises(error, match=said):
        external(np.sin, name="wave", lazy_rules=True, **rules)(lazy(X))


def test_what_is_not_linear_is_told():
    x = lazy(X)
    square = external(np.sin, vjp=lambda a, r, back: (back[0] ** 2,), name="wave", lazy_rules=True)
    with pytest.raises(ValueError, match="a lazy rule of wave is not linear"):
        vecdist.jvp(square(x).sum(), [x], [X])
    with pytest.raises(ValueError, match="plain has no derivative rule; give it a vjp"):
        vecdist.value_and_grad(external(np.sin, name="plain", lazy_rules=True)(x).sum(), x)
