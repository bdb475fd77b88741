"""The log density of a model over one flat vector, against SciPy's."""

import math

import densities
import numpy as np
import pytest
from densities import differences, regression, regression_oracle, schools, schools_oracle, schools_pointwise
from interpreting import nothing_computed
from scipy import stats

from vecdist import InvalidParameter, LogDensity, compile, lazy, logpdf, random  # noqa: A004
from vecdist.distributions import Beta, Dirichlet, LKJCholesky, Normal
from vecdist.lazy import on_device
from vecdist.lazy.array import LazyArray
from vecdist.model.evaluation import Evaluation
from vecdist.parameters import cholesky_corr, interval, ordered, positive, real, simplex
from vecdist.runtime import pipeline

MODELS = {"schools": (schools, schools_oracle), "regression": (regression, regression_oracle)}


def points(density, *lead, seed=0):
    return np.random.default_rng(seed).normal(size=(*lead, density.ndim))


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", MODELS)
def test_values_and_gradients(name):
    make, oracle = MODELS[name]
    density = make()
    for x in points(density, 3):
        value, gradient = density.logdensity_and_gradient(x)
        assert isinstance(value, float) and value == pytest.approx(oracle(x), rel=1e-13)
        assert gradient.shape == (density.ndim,) and gradient.dtype == np.float64 and gradient.flags.c_contiguous
        np.testing.assert_allclose(gradient, differences(oracle, x), rtol=1e-8, atol=1e-9)
        assert density(x) == density.logdensity(x) == pytest.approx(value, rel=1e-14)
        negative, downhill = density.neg(x)
        assert negative == -value and np.array_equal(downhill, -gradient)


@pytest.mark.usefixtures("execution")
def test_many_vectors_are_a_loop_of_one():
    density = schools()
    for lead in ((1,), (5,), (2, 3), (1, 1), (0,)):
        x = points(density, *lead)
        values, gradients = density.logdensity_and_gradient(x)
        assert values.shape == lead and gradients.shape == x.shape
        np.testing.assert_allclose(density(x), values, rtol=1e-14)
        for place in np.ndindex(lead):
            value, gradient = density.logdensity_and_gradient(x[place])
            assert values[place] == pytest.approx(value, rel=1e-14)
            np.testing.assert_allclose(gradients[place], gradient, rtol=1e-13, atol=1e-14)


@pytest.mark.usefixtures("uncompiled")
def test_no_number_of_vectors_is_compiled_for():
    density = schools()
    density.logdensity_and_gradient(points(density))
    density.logdensity_and_gradient(points(density, 2))
    before = pipeline.compilations()
    for count in (3, 1, 4, 0):
        density.logdensity_and_gradient(points(density, count))
    assert pipeline.compilations() == before


@pytest.mark.usefixtures("uncompiled")
def test_other_arrays_are_converted():
    density = schools()
    x = points(density).astype("f4").astype("f8")
    wanted, slopes = density.logdensity_and_gradient(x)
    crooked = np.zeros(20)[::2]
    crooked[:] = x
    for given in (x.tolist(), x.astype("f4"), crooked, x.astype(">f8"), lazy(x)):
        value, gradient = density.logdensity_and_gradient(given)
        assert value == wanted and np.array_equal(gradient, slopes)
    assert density(np.ones(10, int)) == density(np.ones(10))


@pytest.mark.usefixtures("uncompiled")
def test_results_in_given_arrays():
    density = schools()
    for lead in ((), (4,), (1,), (2, 3)):
        x = points(density, *lead)
        out = np.empty(lead), np.empty(x.shape)
        value, gradient = density.logdensity_and_gradient(x, out=out)
        wanted, slopes = density.logdensity_and_gradient(x)
        np.testing.assert_array_equal(out[0], wanted)
        np.testing.assert_array_equal(out[1], slopes)
        assert gradient is out[1] and np.array_equal(value, wanted)
    with pytest.raises(ValueError, match=r"out\[1\] has shape \(4, 10\) .* the result shape \(5, 10\)"):
        density.logdensity_and_gradient(points(density, 5), out=(np.empty(5), np.empty((4, 10))))
    x = points(density, 5)
    with pytest.raises(ValueError, match=r"out\[1\] shares memory with x"):
        density.logdensity_and_gradient(x, out=(np.empty(5), x))


@pytest.mark.usefixtures("uncompiled")
def test_gradients_are_the_callers_own():
    density = schools()
    first = density.logdensity_and_gradient(points(density))[1]
    kept = first.copy()
    second = density.logdensity_and_gradient(points(density, seed=1))[1]
    assert np.array_equal(first, kept) and not np.shares_memory(first, second)


@pytest.mark.usefixtures("uncompiled")
def test_prior_and_likelihood():
    density = schools()
    x = points(density, 2, 3)
    prior, likelihood = density.logprior(x), density.loglikelihood(x)
    np.testing.assert_allclose(prior + likelihood, density(x), rtol=1e-14)
    each = density.pointwise_loglikelihood(x)
    assert list(each) == ["effects"] and each["effects"].shape == (2, 3, 8)
    for place in np.ndindex(2, 3):
        np.testing.assert_allclose(prior[place], densities.schools_prior(x[place]), rtol=1e-13)
        np.testing.assert_allclose(each["effects"][place], schools_pointwise(x[place]), rtol=1e-13)
    np.testing.assert_array_equal(density.pointwise_loglikelihood(x[0, 0])["effects"], each["effects"][0, 0])
    assert isinstance(density.logprior(x[0, 0]), float)
    for ask in ("logprior", "loglikelihood", "pointwise_loglikelihood"):
        with pytest.raises(ValueError, match=r'let it return \{"prior"'):
            getattr(regression(), ask)(np.zeros(3))


@pytest.mark.usefixtures("uncompiled")
def test_several_observed_arrays():
    def model(mu):
        return {"likelihood": {"a": logpdf(Normal(mu, 1.0), np.arange(3.0)), "b": logpdf(Normal(mu, 2.0), 1.0)}}

    density = LogDensity(model, mu=real(), dims={"a": "time"}, coords={"time": [2001, 2002, 2003]})
    x = points(density, 4)
    each = density.pointwise_loglikelihood(x)
    assert density.pointwise_shapes == {"a": (3,), "b": ()}
    np.testing.assert_allclose(each["a"], stats.norm.logpdf(np.arange(3.0), x), rtol=1e-13)
    np.testing.assert_allclose(each["b"], stats.norm.logpdf(1.0, x[:, 0], 2.0), rtol=1e-13)
    np.testing.assert_allclose(density(x), each["a"].sum(axis=1) + each["b"], rtol=1e-13)
    assert density.logprior(x).tolist() == [0.0] * 4


@pytest.mark.usefixtures("uncompiled")
def test_second_derivatives():
    density = regression()
    x = points(density, 2)
    found = density.hessian(x)
    for one, block in zip(x, found, strict=True):
        wanted = differences(lambda y: density.logdensity_and_gradient(y)[1], one)
        np.testing.assert_allclose(block, wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(density.hvp(x, x), np.einsum("nij,nj->ni", found, x), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="directions of shape"):
        density.hvp(x, x[0])


def matrix_model(weights, cuts, factor, level):
    prior = logpdf(Dirichlet(np.array([1.0, 2.0, 3.0])), weights).sum() + logpdf(LKJCholesky(2.0), factor)
    return prior + logpdf(Normal(0.0, 1.0), cuts).sum() + logpdf(Beta(2.0, 3.0), level)


MATRICES = {"weights": simplex(3, 2), "cuts": ordered(3), "factor": cholesky_corr(3), "level": interval(0, 1)}


@pytest.mark.usefixtures("uncompiled")
def test_constraints_of_all_kinds_in_one_kernel():
    density = LogDensity(matrix_model, MATRICES)
    assert density.ndim == 4 + 3 + 3 + 1
    x = points(density, 3)
    values, gradients = density.logdensity_and_gradient(x)

    def oracle(x):
        """By the parameters and terms that NumPy computes, which the tests of parameters look at."""
        inside, terms = density.joint.constrained(x)
        prior = sum(stats.dirichlet.logpdf(w, [1.0, 2.0, 3.0]) for w in inside["weights"])
        diagonal = np.log(np.diagonal(inside["factor"]))
        powers = (3.0 - np.arange(1, 4) + 2.0 * 2.0 - 2.0)[1:] @ diagonal[1:]
        of_factor = powers - float(logpdf(LKJCholesky(2.0), np.eye(3))) * -1.0
        others = stats.norm.logpdf(inside["cuts"]).sum() + stats.beta.logpdf(inside["level"], 2.0, 3.0)
        return prior + of_factor + others + sum(np.sum(term) for term in terms)

    for one, value, gradient in zip(x, values, gradients, strict=True):
        assert value == pytest.approx(oracle(one), rel=1e-12)
        np.testing.assert_allclose(gradient, differences(oracle, one), rtol=1e-7, atol=1e-8)


@pytest.mark.usefixtures("uncompiled")
def test_a_model_with_its_constants_moved_is_the_same_model(monkeypatch):
    """As on a GPU: whatever a model is made of is built again around the copies."""
    density, moved = LogDensity(matrix_model, MATRICES), []
    monkeypatch.setattr(on_device, "to_device", lambda array: moved.append(array) or array.copy())
    again = Evaluation(lambda x: map(LazyArray, on_device.on_device([density.joint.terms(x).total().node])), True)
    x = points(density, 3)
    for found, wanted in zip(again(x), density.logdensity_and_gradient(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert moved


def test_packing_and_unpacking():
    density = LogDensity(matrix_model, MATRICES)
    assert density.names == ("weights", "cuts", "factor", "level")
    assert density.shapes == {"weights": (2, 3), "cuts": (3,), "factor": (3, 3), "level": ()}
    assert density.param_unc_names == [
        "weights[0,0]", "weights[0,1]", "weights[1,0]", "weights[1,1]", "cuts[0]", "cuts[1]", "cuts[2]",
        "factor[0]", "factor[1]", "factor[2]", "level",
    ]  # fmt: skip
    with nothing_computed():
        for lead in ((), (5,), (2, 3)):
            x = points(density, *lead)
            values = density.unpack(x)
            assert {name: array.shape for name, array in values.items()} == {
                name: (*lead, *shape) for name, shape in density.shapes.items()
            }
            assert all(isinstance(a, np.ndarray) and a.flags.c_contiguous and a.base is None for a in values.values())
            np.testing.assert_allclose(density.pack(values), x, rtol=1e-11, atol=1e-11)


def test_unpacked_arrays_are_the_callers_own():
    density = schools()
    x = np.zeros(10)
    density.unpack(x)["eta"][:] = 7.0
    assert not x.any()


@pytest.mark.usefixtures("uncompiled")
def test_starting_points():
    density = regression()
    x = density.initial_point(seed=4)
    assert np.array_equal(x, density.initial_point(seed=4)) and not np.array_equal(x, density.initial_point(seed=5))
    assert np.abs(x).max() <= 2.0 and np.isfinite(density(x))
    impossible = LogDensity(lambda a: np.log(-1.0 - a * a), a=real())
    with pytest.raises(ValueError, match="no start was found: none of 100 points"):
        impossible.initial_point(0)


@pytest.mark.usefixtures("uncompiled")
def test_bad_points_are_minus_infinity():
    density = regression()
    for x in (np.full(3, np.nan), np.full(3, np.inf), np.full(3, 1e308), np.array([0.0, 0.0, -1e308])):
        value, gradient = density.logdensity_and_gradient(x)
        assert value == density(x) == -np.inf and gradient.shape == (3,)
    mixed = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, 0.0, 1e4]])
    values, gradients = density.logdensity_and_gradient(mixed)
    assert values.tolist()[1:] == [-np.inf, -np.inf] and values[0] == density(mixed[0])
    np.testing.assert_array_equal(gradients[0], density.logdensity_and_gradient(mixed[0])[1])


@pytest.mark.usefixtures("uncompiled")
def test_invalid_parameters_raise_where_wanted():
    def model(scale, x):
        return logpdf(Normal(0.0, scale - 1.0), x)

    density = LogDensity(model, scale=positive(), x=real(), errors="raise")
    assert np.isfinite(density(np.array([1.0, 0.0])))
    with pytest.raises(InvalidParameter, match=r"Normal: scale = -0\.63"):
        density(np.array([-1.0, 0.0]))
    with pytest.raises(InvalidParameter, match="Normal: scale"):
        density.logdensity_and_gradient(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert LogDensity(model, scale=positive(), x=real())(np.array([-1.0, 0.0])) == -np.inf


@pytest.mark.usefixtures("uncompiled")
def test_without_constant_terms():
    whole, part = regression(), regression(unnormalised=True)
    x = points(whole, 2)
    apart = whole(x) - part(x)
    assert apart[0] == pytest.approx(apart[1], rel=1e-10) and abs(apart[0]) > 0.1
    np.testing.assert_allclose(
        part.logdensity_and_gradient(x)[1], whole.logdensity_and_gradient(x)[1], rtol=1e-12, atol=1e-12
    )


@pytest.mark.usefixtures("uncompiled")
def test_single_precision():
    single, double = schools(dtype=np.float32), schools()
    x = points(double, 3).astype("f4")
    values, gradients = single.logdensity_and_gradient(x)
    assert single.dtype == gradients.dtype == np.float32 and single.initial_point(0).dtype == np.float32
    np.testing.assert_allclose(values, double(x), rtol=1e-5)
    np.testing.assert_allclose(gradients, double.logdensity_and_gradient(x)[1], rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("uncompiled")
def test_the_trace_takes_part_in_other_expressions():
    density = regression()
    x = points(density)
    moved = compile(lambda x, v: density.trace(x + 0.5 * v))
    assert moved(x, np.ones(3)) == pytest.approx(density(x + 0.5), rel=1e-14)


@pytest.mark.usefixtures("uncompiled")
def test_predictions():
    def predict(key, mu, sigma):
        return {"y": mu + sigma * random.normal(key, 3), "z": random.normal(random.fold_in(key, 1)) * 0.0 + mu}

    density = LogDensity(lambda mu, sigma: logpdf(Normal(0.0, 1.0), mu), mu=real(), sigma=positive(), predict=predict)
    x = points(density, 2, 3)
    found = density.predictive(x, key=11)
    assert found["y"].shape == (2, 3, 3)
    np.testing.assert_array_equal(found["z"], x[..., 0])
    keys = random.fold_in(11, np.arange(6))
    noise = np.asarray(random.normal(keys[:, None], 3)).reshape(2, 3, 3)
    np.testing.assert_allclose(found["y"], x[..., :1] + np.exp(x[..., 1:]) * noise, rtol=1e-13)
    assert not np.array_equal(density.predictive(x, key=12)["y"], found["y"])
    with pytest.raises(ValueError, match="made without predict="):
        schools().predictive(np.zeros(10), 1)
    density.predict = lambda key, mu, sigma: mu
    with pytest.raises(TypeError, match="a dict of lazy arrays by name; this one gave LazyArray"):
        density.predictive(x, 1)


def test_what_samplers_ask():
    density = schools(dims={"eta": ["school"], "effects": "school"}, coords={"school": list("ABCDEFGH")})
    assert density.ndim == density.dimension == 10 and density.capabilities == 1
    assert density.dims == {"eta": ("school",), "effects": ("school",)}
    assert density.coords == {"school": list("ABCDEFGH")}
    assert repr(density) == "LogDensity(schools_model, eta=real(shape=(8,)), mu=real(), tau=positive())"


def branching(mu):
    return logpdf(Normal(0.0, 1.0), mu) if mu > 0 else mu


def test_models_that_branch():
    with pytest.raises(TypeError, match=r"of mu was asked for while the model is being compiled.*np\.where"):
        LogDensity(branching, mu=real())


@pytest.mark.parametrize(("read", "names"), [
    (lambda mu, s, w: float(s), "s"), (lambda mu, s, w: math.log(s * 2.0), "s"), (lambda mu, s, w: f"{mu:.1f}", "mu"),
    (lambda mu, s, w: np.asarray(w), "w"), (lambda mu, s, w: mu if s > 1.0 else w, "s"),
    (lambda mu, s, w: mu.item(), "mu"),
    (lambda mu, s, w: np.array([mu, s]), "mu"), (lambda mu, s, w: bool(w.sum() > mu), "mu, w"),
    (lambda mu, s, w: (mu + s).compute(), "mu, s"),
])
def test_what_was_read_is_named_by_its_parameters(read, names):
    """In the model, and in what it predicts; the error is raised where the value was asked for."""
    declared = {"mu": real(), "s": positive(), "w": simplex(3)}
    message = rf"an expression of {names} was asked for while {{}} is being compiled"
    with pytest.raises(TypeError, match=message.format("the model")) as caught:
        LogDensity(lambda mu, s, w: (read(mu, s, w), mu)[1], **declared)
    assert any(entry.path.name == "test_logdensity.py" and entry.name == "<lambda>" for entry in caught.traceback[1:])
    density = LogDensity(lambda mu, s, w: mu, **declared, predict=lambda key, mu, s, w: {"y": read(mu, s, w)})
    with pytest.raises(TypeError, match=message.format("predict")):
        density.predictive(np.zeros(4), key=1)


def two(mu, nu):
    return mu + nu


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: LogDensity(two, mu=real()), TypeError, r"does not take the declared parameters \(mu\): missing .*'nu'"),
    (lambda: LogDensity(two, mu=real(), nu=real(), x=real()), TypeError, "unexpected keyword argument 'x'"),
    (lambda: LogDensity(two, {"mu": real(), "nu": 3.0}), TypeError, "nu wants a declaration"),  # type: ignore[arg-type]
    (lambda: LogDensity(lambda: lazy(0.0)), ValueError, "parameters of one element or more"),
    (lambda: LogDensity(lambda a: a.sum(), a=real(0)), ValueError, "parameters of one element or more"),
    (lambda: LogDensity(3, a=real()), TypeError, "a model is a function"),  # type: ignore[arg-type]
    (lambda: LogDensity(lambda a: a, a=real(3)), ValueError, r"returns an array of shape \(3,\); sum it"),
    (lambda: LogDensity(lambda a: (a.sum(), a), a=real(3)), ValueError, r"array of shape \(3,\)"),
    (lambda: LogDensity(lambda a: {"prior": a, "likelihood": a}, a=real(3)), ValueError, "the prior is an array"),
    (lambda: LogDensity(lambda a: {"prior": a}, a=real()), ValueError, 'has "prior" and "likelihood"; given prior'),
    (lambda: LogDensity(lambda a: {"likelihood": a, "x": a}, a=real()), ValueError, "given likelihood, x"),
    (lambda: LogDensity(lambda a: {"likelihood": {"y": 3.0}}, a=real()), TypeError, "likelihood 'y' is float"),
    (lambda: LogDensity(lambda a: None, a=real()), TypeError, "the model returns NoneType; wanted a lazy array"),
    (lambda: LogDensity(lambda a: "a", a=real()), TypeError, "the model returns str"),
    (lambda: schools(dims={"theta": ("school",)}), ValueError, "dims names 'theta', which is none of: eta, mu, tau, e"),
    (lambda: schools(dims={"eta": ("a", "b")}), ValueError, r"dims of 'eta' are \('a', 'b'\), but its shape is \(8,\)"),
    (lambda: schools(dims={"eta": "a"}, coords={"a": [1, 2]}), ValueError, "axis 'a' of 'eta' has length 8, else"),
    (lambda: schools(coords={"a": [1, 2]}), ValueError, "coords names the axis 'a', which no dims name"),
    (lambda: schools(errors="ignore"), ValueError, 'errors is "nan" or "raise"'),
    (lambda: schools(dtype=np.int64), TypeError, "of dtype float64 or float32, given int64"),
])
def test_wrong_models(make, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("x", [np.zeros(9), np.zeros((10, 3)), 0.0, [], np.zeros((0, 11))])
def test_vectors_of_another_length(x):
    density = schools()
    for call in (density, density.logdensity_and_gradient, density.unpack, density.hessian, density.logprior):
        with pytest.raises(ValueError, match=r"of vectors of length 10, given .*: the unconstrained eta, mu, tau"):
            call(x)


@pytest.mark.parametrize(("values", "message"), [
    ({"alpha": 0.0, "beta": 0.0}, "alpha, beta, shape are wanted; missing: shape"),
    ({"alpha": 0.0, "beta": 0.0, "shape": 1.0, "x": 1.0}, "unknown: x"),
    ({"alpha": [0.0], "beta": 0.0, "shape": 1.0}, r"differ in their leading axes: \(\), \(1,\)"),
    ({"alpha": 0.0, "beta": 2.5, "shape": 1.0}, "beta: a value lies outside interval"),
    ({"alpha": 0.0, "beta": 0.0, "shape": -1.0}, "shape: a value lies outside positive"),
])
def test_values_that_cannot_be_packed(values, message):
    with pytest.raises(ValueError, match=message):
        regression().pack(values)
    with pytest.raises(ValueError, match=r"eta has shape \(7,\), wanted \(8,\)"):
        schools().pack({"eta": np.zeros(7), "mu": 0.0, "tau": 1.0})


def test_names_that_are_taken_are_declared_in_a_dict():
    density = LogDensity(lambda errors, mu: errors + mu, {"errors": real()}, mu=real())
    assert density.names == ("errors", "mu")
