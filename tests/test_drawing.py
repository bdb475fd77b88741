"""Drawings: what is drawn of an expression, where it stands, and that the SVG is one."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vecdist
from vecdist.distributions import FAMILIES, Gamma, Normal
from vecdist.graph.node import Node, const
from vecdist.inspect.diagram import LIMIT, diagram, fold_alike, fold_elementwise
from vecdist.inspect.drawing import Box, Layout, draw, fit
from vecdist.primitives.indexing import scatter

SVG = "{http://www.w3.org/2000/svg}"


def named(array, name):
    return vecdist.lazy(np.asarray(array), name)


def boxes_of(lazy):
    return diagram(lazy.node)[0]


def labels(lazy):
    return [box.label for box in boxes_of(lazy)]


def schools():
    """A joint density with shared parameters: the eight schools."""
    mu, tau, z = named(0.0, "mu"), named(1.0, "tau"), named(np.zeros(8), "z")
    likelihood = vecdist.logpdf(Normal(mu + tau * z, named(np.ones(8), "sigma")), named(np.ones(8), "y")).sum()
    priors = vecdist.logpdf(Normal(0.0, 1.0), z).sum() + vecdist.logpdf(Normal(0.0, 5.0), mu)
    return likelihood + priors + vecdist.logpdf(Normal(0.0, 5.0), tau)


def residuals():
    x = named(np.ones((50, 4)), "X")
    beta = named(np.ones(4), "beta")
    return ((named(np.ones(50), "y") - x @ beta) ** 2).mean() + (beta * beta).sum() / 2.0


def chain():
    x = named(np.ones(3), "x")
    for number in range(100):
        x = np.sqrt(x) * x + number if number % 7 else x * x[::-1]
    return x


def terms(count, alike):
    total = named(0.0, "start")
    for number in range(count):
        total = total + vecdist.logpdf(Normal(np.ones(3 if alike else number + 1), 1.0), 0.5).sum()
    return total


def groups():
    mu, group = named(np.ones(4), "mu"), named(np.arange(9) % 4, "group")
    logits = named(np.ones((9, 3)), "logits")
    means = vecdist.log_softmax(logits)[np.arange(9), named(np.zeros(9, int), "k")]
    return vecdist.logpdf(Normal(mu[group], 1.0), means).sum() + np.where((logits > 0).any(axis=1), 1.0, mu.max()).sum()


EXAMPLES = {
    "schools": schools, "residuals": residuals, "groups": groups, "chain": chain, "alike": lambda: terms(200, True),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_log_density_is_one_box(name):
    family = FAMILIES[name]
    names = family.parametrisations[0].names
    given = {parameter: named(np.ones(3), parameter) for parameter in names}
    *leaves, density = boxes_of(vecdist.logpdf(family(*given.values()), named(np.ones((2, 3)), "at")))
    assert [box.label for box in leaves] == [*names, "at"]
    assert (density.label, density.kind, density.ports) == (f"logpdf {name}", "density", (*names, "x"))
    assert density.title.startswith(f"logpdf {name}({', '.join(names)})")


def test_numbers_stand_inside_the_box_that_uses_them():
    density = vecdist.logpdf(Gamma(named(np.ones(3), "a"), 2.5), named(np.ones(3), "x"))
    leaves, last = boxes_of(density)[:-1], boxes_of(density)[-1]
    assert [box.label for box in leaves] == ["a", "x"]
    assert (last.ports, last.inputs) == (("shape", "scale=2.5", "x"), (0, None, 1))
    x = named(np.ones(3), "x")
    assert labels(2.0 * x) == ["x", "2 ×"] and labels(x - 0.5) == ["x", "− 0.5"] and labels(1 / x) == ["x", "1 ÷"]
    assert boxes_of(np.where(x > 0, x, 0.0))[-1].ports == ("if", "then", "else=0")


def test_what_a_density_is_at_may_be_an_expression():
    """A checked node that names its ``x`` shows it as it is."""
    a, x = named(np.ones(3), "a").node, np.log(named(np.ones(3), "b")).node
    yes = const(True, np.bool_)
    checked = Node("checked", (x - a, yes, a, yes, x), (("Normal", "loc", ""), ("Normal", "x", "")), x.shape, x.dtype)
    assert [(box.label, box.inputs) for box in diagram(checked)[0]] == [
        ("a", ()), ("b", ()), ("log", (1,)), ("logpdf Normal", (0, 2)),
    ]


def test_sums_of_terms_are_one_box():
    x, y, z = (named(np.ones(()), name) for name in "xyz")
    assert labels(x + y + z) == ["x", "y", "z", "+"]
    assert boxes_of(x + y + x)[-1].inputs == (0, 1, 0)
    twice = x + y
    assert labels(twice + twice).count("+") == 2


def test_conversions_and_new_axes_are_edges():
    x = named(np.ones(5, np.int32), "x")
    assert labels(np.sqrt(x.astype(float))[:, None] * 2.0) == ["x", "sqrt", "× 2"]
    assert labels(named(np.ones((2, 5)), "x").mean()) == ["x", "sum", "÷ 10"]
    assert [box.detail for box in boxes_of(named(np.ones((2, 5)), "x").sum(axis=0))] == ["float64[2, 5]", "float64[5]"]


@pytest.mark.parametrize(
    ("function", "label"),
    [
        (lambda x: x.sum(axis=0), "sum over axis 0"),
        (lambda x: x.max(axis=1), "max over axis 1"),
        (lambda x: x.prod(), "prod"),
        (lambda x: (x > 1.0).any(axis=1), "any over axis 1"),
        (lambda x: (x > 1.0).all(), "all"),
        (lambda x: x.max(axis=0) > 0, "> 0"),
        (lambda x: vecdist.logsumexp(x, axis=0), "logsumexp over axis 0"),
        (lambda x: x[:, named(np.zeros(3, int), "group")], "x[:, group]"),
        (lambda x: np.exp(x)[named(np.zeros(3, int), "rows") + 1], "[·]"),
        (lambda x: x[1:, 2], "[1:, 2]"),
        (lambda x: x[::-1, 0:3:2], "[::-1, :4:2]"),
        (lambda x: x.T, "transpose"),
        (lambda x: x.ravel(), "reshape"),
        (lambda x: x[None], "reshape"),
        (lambda x: np.broadcast_to(x, (2, 4, 5)), "broadcast"),
        (lambda x: x.astype(np.float32), "to float32"),
        (lambda x: -x, "−"),
        (lambda x: x, "x"),
    ],
)
def test_the_last_box_reads_as_it_was_written(function, label):
    assert labels(function(named(np.ones((4, 5)), "x")))[-1] == label


def test_an_array_indexed_by_arrays_is_one_box():
    mu, rows, columns = named(np.ones((4, 5)), "mu"), named(np.zeros(3, int), "rows"), named(np.ones(3, int), "columns")
    assert [(box.label, box.kind, box.inputs) for box in boxes_of(mu[rows, columns])] == [
        ("mu", "leaf", ()), ("rows", "leaf", ()), ("columns", "leaf", ()), ("mu[rows, columns]", "view", (0, 1, 2)),
    ]
    assert labels(vecdist.logpdf(Normal(mu[rows], 1.0), 0.5))[-2:] == ["mu[rows]", "logpdf Normal"]


def test_what_is_added_up_by_index_is_one_box():
    values, group = named(np.ones(3), "values"), named(np.zeros(3, int), "group")
    boxes, _ = diagram(scatter(values.node, [group.node], 0, (2,)))
    assert [(box.label, box.kind) for box in boxes[2:]] == [("added up at [group]", "reduction")]


def test_arrays_without_a_name_are_called_as_in_the_source():
    assert labels(vecdist.lazy(np.ones(3)) * np.ones(3)) == ["x0", "x1", "×"]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_drawings_are_svg_that_screen_readers_name(example):
    boxes, note = diagram(example().node)
    tree = ElementTree.fromstring(draw(boxes, "a graph", note))
    assert (tree.tag, tree.get("role"), tree.get("aria-label")) == (f"{SVG}svg", "img", "a graph")
    assert tree.get("fill") == "currentColor" and not list(tree.iter(f"{SVG}style"))
    assert not [found for found in tree.iter() if "id" in found.attrib], "two drawings on a page would share an id"
    titles = [found.text for found in tree.iter(f"{SVG}title")]
    assert titles == [box.title or box.label for box in boxes]
    assert all(box.detail in titles[place] or box.kind == "elementwise" for place, box in enumerate(boxes) if not note)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_boxes_and_lanes_stay_apart_and_inside(example):
    layout = Layout(boxes_of(example()))
    for row in layout.rows:
        for left, right in pairwise(row):
            between = layout.x[right] - layout.x[left] - (layout.width(left) + layout.width(right)) / 2
            assert between > 9
    assert min(layout.x[item] - layout.width(item) / 2 for item in layout.x) > 0
    assert all(bottom < top for bottom, top in zip(layout.bottom, layout.top[1:], strict=False))


def test_edges_lead_down_and_cross_no_more_than_they_must():
    layout = Layout(boxes_of(schools()))
    assert all(s.end[1] == s.start[1] + 1 for s in layout.segments)
    assert layout.crossings() <= 1


def test_inputs_stand_just_above_their_first_user():
    x, y = named(np.ones(3), "x"), named(np.ones(3), "y")
    assert Layout(boxes_of(np.sqrt(np.sqrt(x)) * y)).ranks == [0, 1, 2, 2, 3]


def test_where_order_is_free_edges_arrive_uncrossed():
    boxes = [Box("a", kind="leaf"), Box("b", kind="leaf"), Box("+", inputs=(1, 0), commutes=True)]
    layout = Layout(boxes)
    arrivals = sorted((layout.x[s.start], layout.port(s)) for s in layout.segments)
    assert [port for _, port in arrivals] == sorted(port for _, port in arrivals)


def test_text_is_escaped():
    name = "<script>&\"'"
    svg = draw(boxes_of(named(np.ones(3), name) * 2.0), name, name)
    assert "<script" not in svg
    tree = ElementTree.fromstring(svg)
    assert tree.get("aria-label") == name
    assert [found.text for found in tree.iter(f"{SVG}text")].count(name) == 2


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(0, 50)), min_size=1, max_size=12))
def test_fitted_places_keep_their_distances_and_move_no_more_than_needed(rows):
    wanted, distances = [w for w, _ in rows], [d for _, d in rows[1:]]
    found = fit(wanted, distances)
    assert all(b - a >= d - 1e-9 for a, b, d in zip(found, found[1:], distances, strict=False))
    assert sum(found) == pytest.approx(sum(wanted), abs=1e-6)
    if all(b - a >= d for a, b, d in zip(wanted, wanted[1:], distances, strict=False)):
        assert found == pytest.approx(wanted, abs=1e-9)


def test_large_graphs_are_folded():
    boxes, note = diagram(terms(200, alike=True).node)
    assert [box.label for box in boxes] == ["start", "200 arrays", "logpdf Normal (200 times)", "sum (200 times)", "+"]
    assert note == "602 boxes, folded to 5"
    boxes, note = diagram(chain().node)
    assert len(boxes) <= LIMIT and "folded" in note
    assert any(box.label.endswith(" operations") for box in boxes)


def test_terms_of_many_shapes_are_folded_too():
    boxes = boxes_of(terms(100, alike=False))
    assert [box.label for box in boxes] == ["start", "100 arrays", "logpdf Normal (100 times)", "sum (100 times)", "+"]
    assert (boxes[1].detail, boxes[3].detail) == ("various shapes", "float64")


def test_folded_boxes_count_those_inside():
    total = terms(50, alike=True) + terms(100, alike=False)
    assert [label for label in labels(total) if "arrays" in label or "Normal" in label] == [
        "150 arrays", "logpdf Normal (150 times)",
    ]


def test_many_elements_of_one_array_are_folded():
    x = named(np.ones(100), "x")
    assert labels(sum(x[number] for number in range(100))) == ["x", "100 views", "2 operations"]


def test_graphs_that_do_not_fold_are_cut_off_and_say_so():
    x = named(np.ones(3), "x")
    for _ in range(100):
        x = np.sqrt(x) - x.sum()
    boxes, note = diagram(x.node)
    assert len(boxes) == LIMIT + 1 and boxes[0].label.endswith(" more") and "nearest to the result" in note
    assert boxes[-1].kind == "elementwise"
    ElementTree.fromstring(draw(boxes, "cut off", note))


def test_a_long_chain_is_drawn_without_recursion():
    x = named(np.ones(3), "x")
    for _ in range(5000):
        x = np.sqrt(x)
    assert labels(x) == ["x", "5000 operations"]


def test_folding_keeps_what_is_used_twice():
    total = Box("s", kind="reduction", inputs=(1,))
    boxes = [Box("x", kind="leaf"), Box("f", inputs=(0,)), total, Box("g", inputs=(1, 2))]
    assert [box.label for box in fold_elementwise(boxes)] == ["x", "f", "s", "g"]
    pair = [Box("x", kind="leaf"), Box("y", kind="leaf"), Box("−", inputs=(0, 1))]
    assert [(box.label, box.inputs) for box in fold_alike(pair)] == [("2 arrays", ()), ("−", (0, 0))]
