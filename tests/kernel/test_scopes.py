"""Names that are nothing but a value, beside a machine that runs through every path."""

import ast

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vecdist.codegen.frontend import statements
from vecdist.kernel.code import For, If, Set, While, expressions, lines
from vecdist.kernel.expressions import Constant, Name, Several, names
from vecdist.kernel.scopes import values


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = p\nb = a + q", "a b p q"),
        ("a = p\na = a + q", "p q"),
        ("a = a + p", "p q"),
        ("if p:\n    a = q\nelse:\n    a = p", "p q"),
        ("if p:\n    a = q\nb = a", "b p q"),
        ("if p:\n    a = q\n    b = a", "a b p q"),
        ("for i in range(p):\n    a = i\n    b = a", "a b i p q"),
        ("for i in range(p):\n    a = i\nb = a", "b i p q"),
        ("for i in range(p):\n    b = a\n    a = i", "b i p q"),
        ("for i in range(i):\n    a = i", "a p q"),
        ("a = p\nfor a in range(a):\n    b = a", "b p q"),
        ("while q < p:\n    q = q + 1", "p"),
        ("while a < p:\n    a = q", "p q"),
        ("a, b = p, q\nc = a - b", "a b c p q"),
        ("a[p] = q\nb = a[p]", "b p q"),
        ("for i in range(p):\n    a = i\nfor i in range(q):\n    b = i", "a b i p q"),
        ("for i in range(p):\n    for i in range(q):\n        a = i\n    b = i", "a b p q"),
    ],
)
def test_what_is_a_value(text, wanted):
    assert values(("p", "q"), statements(ast.parse(text).body)) == set(wanted.split())


NAMES = st.sampled_from("abcdpq")
READ = NAMES.map(Name) | st.integers(0, 3).map(Constant)
SETS = st.builds(lambda name, x, y: Set(Name(name), x + y), NAMES, READ.filter(lambda e: isinstance(e, Name)), READ)
PAIRS = st.builds(lambda a, b, x, y: Set(Several((Name(a), Name(b))), Several((x, y))), NAMES, NAMES, READ, READ)


def blocks(inner):
    block = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return (
        st.builds(If, READ, block, block | st.just(()))
        | st.builds(While, READ, block)
        | st.builds(lambda index, stop, body: For(index, stop, body), st.sampled_from("ijab"), READ, block)
    )


ITEMS = st.recursive(SETS | PAIRS, blocks, max_leaves=12)


def paths(body, known, seen):
    """Run through a block in every way, loops none, one or two times: ``seen`` notes each name that is read."""
    states = [dict(known)]
    for place, item in enumerate(body):
        states = [after for state in states for after in one(item, state, seen, (id(body), place))][:60]
    return states


def one(item, state, seen, place):
    for name in names(*(each for each in expressions(item) if not (isinstance(item, Set) and each is item.target))):
        seen.setdefault((name, place), set()).add(state.get(name))
    match item:
        case Set(Name(name)):
            return [{**state, name: place}]
        case Set(Several(targets)):
            return [{**state, **{each.id: (*place, n) for n, each in enumerate(targets)}}]
        case If(_, body, orelse):
            return [*paths(body, state, seen), *paths(orelse, state, seen)]
        case For(index, _, body):
            once = paths(body, {**state, index: place}, seen)
            return [state, *once, *(two for each in once[:4] for two in paths(body, {**each, index: place}, seen))]
        case While(_, body):
            once = paths(body, state, seen)
            return [state, *once, *(two for each in once[:4] for two in paths(body, each, seen))]


@given(st.lists(ITEMS, min_size=1, max_size=5).map(tuple))
def test_a_value_is_read_where_it_was_given(body):
    """On no path is one read before it is given, and where it is read it is always what one statement gave."""
    seen = {}
    paths(body, {"p": "parameter", "q": "parameter"}, seen)
    found = values(("p", "q"), body)
    for (name, _), given_by in seen.items():
        assert name not in found or (len(given_by) == 1 and None not in given_by), "\n".join(lines(body))
