"""The notebooks run, cell by cell, and what they find is what SciPy and quadrature find."""

import ast
import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scipy import special, stats

from vecdist.datasets import coal_disasters, eight_schools, newcomb
from vecdist.distributions import FAMILIES
from vecdist.primitives import PRIMITIVES
from vecdist.samplers import ess, rhat

README = Path(__file__).parent.parent / "README.md"
FOLDER = README.parent / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("[0-9]_*.py"))
BY_PYTHON = ["1_quick_start", "5_add_a_family_and_a_primitive"]  # fast enough without a compiler
COMPILED = ["3_write_your_own_sampler", "4_many_chains", "6_your_own_code", "7_from_one_array_to_a_cluster"]
CLIENT = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]  # libraries of others warn of each other
FAR = 4.5  # standard errors


@dataclass(frozen=True)
class Cell:
    """The text of a cell, what stands behind ``# %%``, and the number of lines before it."""

    text: str
    mark: str
    line: int


def cells(name):
    """The cells of a notebook, the header of the file left out."""
    parts = re.split(r"^# %%(.*)\n", (FOLDER / f"{name}.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    line, found = parts[0].count("\n"), []
    for mark, text in zip(parts[1::2], parts[2::2], strict=True):
        found.append(Cell(text, mark.strip(), line + 1))
        line += 1 + text.count("\n")
    return found


def executed(name, figures):
    """What the code of a notebook leaves behind; with ``figures`` its figures are drawn, and looked at."""
    space = {"__name__": "__main__"}
    with mock.patch.dict(FAMILIES), mock.patch.dict(PRIMITIVES):  # what a notebook adds goes with it
        for cell in cells(name):
            if cell.mark != "[markdown]" and (figures or "figure" not in cell.mark):
                run(cell, str(FOLDER / f"{name}.py"), space)
            if figures and "plt" in space:
                look_at(space["plt"], "figure" in cell.mark)
    return space


def run(cell, path, space):
    """A cell, at its lines in the file; its last expression is shown, as Jupyter does."""
    tree = ast.parse("\n" * cell.line + cell.text, path)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, path, "exec"), space)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), path, "eval"), space)
        assert repr(shown)
        for method in ("_repr_html_", "_repr_mimebundle_"):
            assert getattr(shown, method, lambda: "nothing")()


def look_at(pyplot, own):
    """The figures of a cell can be drawn; there are some of the notebook's ``own``, with titles and named axes."""
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    assert figures or not own
    for figure in figures:
        figure.canvas.draw()
        if own:
            assert all(axes.get_xlabel() and axes.get_title() for axes in figure.axes) and figure.axes[0].get_ylabel()


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", BY_PYTHON)
def test_without_a_compiler(name):
    CHECKS[name](executed(name, figures=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    CHECKS[name](executed(name, figures=False))


@pytest.mark.parametrize("name", [pytest.param(name, marks=CLIENT) for name in NAMES])
def test_with_figures(name, request, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if name in BY_PYTHON:
        request.getfixturevalue("uncompiled")
    CHECKS[name](executed(name, figures=True))


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    """What Jupytext reads; cells short enough to be read at a glance; prose between them."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith("# ---\n# jupyter:\n#   jupytext:\n")
    assert "\n#       format_name: percent\n" in text.partition("\n# ---\n")[0]
    found = cells(name)
    assert {re.sub(r'^tags=\["figure"\]$', "", cell.mark) for cell in found} == {"", "[markdown]"}
    for cell in found:
        prose = all(not line or line.startswith("#") for line in cell.text.split("\n"))
        assert prose == (cell.mark == "[markdown]")
        assert prose or len(cell.text.strip().split("\n")) <= 15, cell.text
    assert found[0].text.startswith("# # ") and max(map(len, text.split("\n"))) <= 120
    assert sum(cell.mark == "[markdown]" for cell in found) >= len(found) / 3


def test_the_picture_is_what_the_library_draws():
    made = runpy.run_path(str(FOLDER / "picture.py"))
    assert made["FILE"].read_text(encoding="utf-8") == made["picture"](), "python notebooks/picture.py writes it anew"


@pytest.mark.clients
@pytest.mark.filterwarnings("ignore")
def test_what_the_readme_does_with_clients():
    """Its block of ``py``, which its own test leaves out, after those of ``python`` before it."""
    blocks = re.findall(r"^```(python|py)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (first,) = (place for place, (kind, _) in enumerate(blocks) if kind == "py")
    space = {}
    for _, text in blocks[: first + 1]:
        exec(text, space)
    posterior = {name: array.values for name, array in space["trace"]["posterior"].items()}
    effects = posterior["mu"][..., None] + posterior["tau"][..., None] * posterior["eta"]
    own_sampler({"posterior": posterior, "school_effects": effects})
    assert set(space["labelled"]["log_likelihood"]["likelihood"].sizes.values()) == {4, 1000, 8}


# What each notebook found.


def quick_start(found):
    minutes = found["minutes"]
    shape, _, scale = stats.gamma.fit(minutes, floc=0)
    np.testing.assert_allclose(found["best"], [shape, scale], rtol=2e-5)  # SciPy's search ends there
    exact = stats.gamma.logpdf(minutes, found["shapes"], scale=found["scales"]).sum(axis=-1)
    np.testing.assert_allclose(found["log_likelihood"], exact, rtol=1e-12)
    shape, scale = found["best"]
    np.testing.assert_allclose(found["share"], stats.gamma.sf(15.0, shape, scale=scale), rtol=1e-9)
    np.testing.assert_allclose(found["growth"], 15.0 / scale * stats.gamma.pdf(15.0, shape, scale=scale), rtol=1e-9)
    information = np.array([[special.polygamma(1, shape) * shape, 1.0], [1.0, 1.0]])
    information *= len(minutes) * shape  # of the logarithms of both, where the mean of the data is shape * scale
    variances = np.diag(np.linalg.inv(information))
    np.testing.assert_allclose(found["errors"], found["best"] * np.sqrt(variances), rtol=1e-6)
    np.testing.assert_allclose(found["of_half"], stats.gamma.logpdf(minutes[:200], shape, scale=scale).sum(), rtol=1e-9)


def model_to_posterior(found):
    light = newcomb()
    mu, log_sigma, log_nu = np.meshgrid(
        np.linspace(23.0, 31.0, 41), np.linspace(0.3, 2.6, 41), np.linspace(-1.0, 5.5, 41), indexing="ij"
    )
    sigma, nu = np.exp(log_sigma), np.exp(log_nu)
    log = stats.norm.logpdf(mu, 0.0, 100.0) + stats.halfnorm.logpdf(sigma, scale=50.0) + log_sigma
    log += stats.gamma.logpdf(nu, 2.0, scale=10.0) + log_nu
    for time in light:
        log += stats.t.logpdf(time, nu, mu, sigma)
    posterior = found["of_student"]["posterior"]
    near([posterior[name].values for name in ("mu", "sigma", "nu")], log, [mu, sigma, nu])
    smallest = found["smallest"]
    assert (smallest(found["of_normal"]) <= light.min()).mean() < 0.005
    assert 0.02 < (smallest(found["of_student"]) <= light.min()).mean() < 0.9
    assert found["comparison"].index[0] == "student"


def own_sampler(found):
    effects, errors = eight_schools()
    mu, log_tau = np.meshgrid(np.linspace(-25.0, 35.0, 401), np.linspace(-12.0, 6.0, 901), indexing="ij")
    tau = np.exp(log_tau)
    log = stats.norm.logpdf(mu, 0.0, 5.0) + stats.halfcauchy.logpdf(tau, scale=5.0) + log_tau
    for effect, error in zip(effects, errors, strict=True):
        log += stats.norm.logpdf(effect, mu, np.hypot(tau, error))
    first = (mu * errors[0] ** 2 + tau**2 * effects[0]) / (tau**2 + errors[0] ** 2)  # the mean of school A, given both
    posterior = found["posterior"]
    drawn = [posterior["mu"], np.log(posterior["tau"]), found["school_effects"][..., 0]]
    near(drawn, log, [mu, log_tau, first])


def many_chains(found):
    years, counts = coal_disasters()
    early, late, change, width = np.meshgrid(
        np.linspace(2.0, 5.2, 17), np.linspace(0.4, 1.7, 15), np.linspace(1872.0, 1904.0, 25),
        np.linspace(0.02, 14.0, 21), indexing="ij", sparse=True,
    )  # fmt: skip
    log = stats.gamma.logpdf(early, 2.0) + stats.gamma.logpdf(late, 2.0) + stats.gamma.logpdf(width, 4.0)
    log = log + 0.0 * change
    for year, count in zip(years, counts, strict=True):
        rate = early + (late - early) * special.expit((year - change) / width)
        log += count * np.log(rate) - rate
    exact = [np.broadcast_to(each, log.shape) for each in (early, late, change, width)]
    drawn = [found["posterior"][name] for name in ("early", "late", "change", "width")]
    near(drawn, log, exact)
    chains = found["chains"]
    assert (found["path"].shape, found["again"].positions.shape) == ((chains, 40), (chains, 200, 4))
    assert rhat(found["again"].positions).max() < 1.05


def near(drawn, log, exact):
    """The means of draws (chains, draws) are those under weights in proportion to exp(log), as their sizes allow."""
    weights = special.softmax(log)
    for draws, quantity in zip(drawn, exact, strict=True):
        wanted = (weights * quantity).sum()
        size = ess(draws)
        assert rhat(draws) < 1.05 and size > 400
        assert abs(draws.mean() - wanted) < FAR * draws.std() / np.sqrt(size), (draws.mean(), wanted)


def family_and_primitive(found):
    def fatigue(alpha):
        return stats.fatiguelife.logpdf(found["cycles"], alpha, scale=found["median"])

    np.testing.assert_allclose(np.asarray(found["lp"]), fatigue(0.5), rtol=1e-12)
    differences = (fatigue(0.5 + 1e-5) - fatigue(0.5 - 1e-5)).sum() / 2e-5
    np.testing.assert_allclose(found["of_alpha"], differences, rtol=1e-7)
    assert stats.kstest(found["lives"], stats.fatiguelife(0.5, scale=100.0).cdf).pvalue > 1e-3
    np.testing.assert_allclose(found["area"], stats.fatiguelife.cdf(300.0, 0.5, scale=100.0), rtol=1e-5)
    assert found["message"] == "FatigueLife: alpha = -1.0 is invalid; wanted a finite positive number"
    assert abs(found["one"] - stats.poisson.logpmf(found["numbers"], 3.0)).max() < 1e-12
    centre, nu = found["centre"][..., None], found["dispersion"][:, None]
    numbers = np.arange(200)
    terms = nu * (numbers * np.log(centre) - special.gammaln(numbers + 1.0))
    masses = terms - special.logsumexp(terms, axis=-1, keepdims=True)
    for era, inside in found["eras"].items():
        weights = special.softmax(masses[..., coal_disasters().counts[inside]].sum(axis=-1))
        np.testing.assert_allclose(found["means"][era], (weights * nu[:, 0]).sum(), rtol=1e-9)


def own_code(found):
    angles, e = found["angles"], 0.6
    np.testing.assert_allclose(angles - e * np.sin(angles), found["means"], rtol=1e-12)
    np.testing.assert_allclose(found["slopes"], 1.0 / (1.0 - e * np.cos(angles)), rtol=1e-9)

    def log_likelihood(omega, alpha, beta):
        variance, total = 0.01, 0.0
        for seen in found["returns"]:
            total += stats.norm.logpdf(seen, 0.0, np.sqrt(variance))
            variance = omega + alpha * seen**2 + beta * variance
        return total

    at = np.array([0.002, 0.1, 0.7])
    np.testing.assert_allclose(found["value"], log_likelihood(*at), rtol=1e-12)
    differences = [log_likelihood(*(at + h)) - log_likelihood(*(at - h)) for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found["gradient"], np.array(differences) / 2e-6, rtol=1e-5)
    assert abs(found["walked"].mean() - 3.0) < FAR * 0.5 / np.sqrt(ess(found["walked"][None]))
    c, f, i, g = (matrix.astype(float) for matrix in found["matrices"])
    new, order = special.expit(i) * np.tanh(g), found["runs"]
    wanted = np.where(order % 2 == 0, new, np.where(order == 3, special.expit(f) * c + new, c))
    np.testing.assert_allclose(found["cells"]["uniform"][0], wanted, rtol=1e-5)
    value, (*_, last) = found["products"][10]
    x = found["given"][-1].astype(float)
    np.testing.assert_allclose(last, value * (1.0 - np.tanh(x) ** 2) / np.tanh(x), rtol=1e-4)


def array_to_cluster(found):
    """Wherever the rows come from, the same value and slopes, by SciPy; the chunk that pays grows with the cores."""
    dose, count, slopes = found["dose"], found["count"], found["truth"]
    rate = np.exp(dose @ slopes)
    value = stats.poisson.logpmf(count, rate).sum() + stats.norm.logpdf(slopes).sum()
    for each, slope in (found[name] for name in ("from_file", "by_threads", "by_cluster")):
        np.testing.assert_allclose(each, value, rtol=1e-12)
        np.testing.assert_allclose(slope, (count - rate) @ dose - slopes, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(found["value"], value, rtol=1e-12)
    assert found["same"] == [True, True], "the same bits"
    assert found["chunk_that_pays"](32) > 7 * found["chunk_that_pays"](4) > 0


EVERY = (
    quick_start, model_to_posterior, own_sampler, many_chains, family_and_primitive, own_code, array_to_cluster,
)  # fmt: skip
CHECKS = dict(zip(NAMES, EVERY, strict=True))
