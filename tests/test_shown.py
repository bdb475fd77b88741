"""How explanations and lazy arrays are shown, the latter without computing anything."""

from xml.etree import ElementTree

import numpy as np
import pytest

import vecdist
from vecdist.distributions import Normal
from vecdist.inspect.explain import explain
from vecdist.inspect.notebook import mimebundle, summary
from vecdist.runtime import pipeline

DENSITY = vecdist.logpdf(Normal(np.ones((20, 1)), 2.0), np.ones((20, 30)))


@pytest.mark.usefixtures("uncompiled")
def test_an_explanation_in_a_notebook():
    html = explain((vecdist.lazy(np.ones(3), "<b>&") * 2.0).sum())._repr_html_()
    tree = ElementTree.fromstring(f"<body>{html}</body>")
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}svg"))) == 1
    titles = [found.text for found in tree.iter("summary")]
    assert titles == ["loop nest, in primitives", "loop nest, as it runs", "source", "graph", "graph, derived"]
    assert tree.find("b") is None and "array <b>&" in "".join(tree.itertext())


@pytest.fixture
def idle(monkeypatch):
    """No test that uses this may lower, compile or compute."""

    def fail(*arguments, **keywords):
        raise AssertionError("showing a lazy array must not compute anything")

    for name in ("structure", "lower", "planned", "evaluate", "backend"):
        monkeypatch.setattr(pipeline, name, fail)


@pytest.mark.usefixtures("idle")
def test_a_lazy_array_in_a_line():
    x = vecdist.lazy(np.ones((5, 3), np.float32))
    assert repr(x) == "LazyArray(shape=(5, 3), dtype=float32, device=cpu, 1 node, not computed)"
    assert summary((x * 2).node) == "LazyArray(shape=(5, 3), dtype=float32, device=cpu, 2 nodes, not computed)"
    assert summary(x.node, computed=True).endswith(", computed)")


@pytest.mark.usefixtures("idle")
def test_a_lazy_array_in_a_notebook():
    bundle = DENSITY._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    tree = ElementTree.fromstring(f"<body>{bundle['text/html']}</body>")
    cells = [found.text for found in tree.iter("td")]
    assert cells == ["(20, 30)", "float64", "cpu", "600 (4.8 kB)", "1", "not computed"]
    assert mimebundle(DENSITY.node, computed=True)["text/html"].count(">computed<") == 1


@pytest.mark.usefixtures("idle")
def test_showing_a_mix_of_libraries_or_an_invalid_density_raises_nothing():
    assert "not computed" in repr(vecdist.logpdf(Normal(0.0, -1.0), np.ones(3)))
