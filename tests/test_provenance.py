"""What statements of a kernel are steps of: primitives, and log densities as the user wrote them."""

import numpy as np

import vecdist
from vecdist.distributions import Gamma, Normal
from vecdist.inspect.provenance import Step, headed
from vecdist.kernel.code import For, If, Note
from vecdist.kernel.expressions import Name
from vecdist.kernel.statements import Assign
from vecdist.primitives.elementary import exp

F8 = np.dtype("f8")


def test_the_schedule_is_the_nest_that_runs_with_what_its_statements_are_steps_of():
    shape, x = vecdist.lazy(np.array(2.5), "a"), vecdist.lazy(np.linspace(0.1, 3.0, 1000), "x")
    kernel, = vecdist.explain(vecdist.logpdf(Gamma(shape, 2.0), x).sum(), wrt=(shape,)).kernels
    lines = [line.strip() for line in kernel.schedule.splitlines()]
    blocks = lines.index("for block in range(first, last):")
    assert lines.index("# lgamma, logpdf of Gamma(shape=a, scale=2)") < blocks, "it does not vary"
    assert any(line.startswith("# log, ") for line in lines[blocks:])
    assert any(line.endswith("derivative of logpdf of Gamma(shape=a, scale=2)") for line in lines)


def test_densities_of_one_family_are_told_apart_by_their_parameters():
    mu, x = vecdist.lazy(np.array(0.5), "mu"), vecdist.lazy(np.linspace(0.1, 3.0, 1000), "x")
    target = vecdist.logpdf(Normal(mu, 2.0), x).sum() + vecdist.logpdf(Normal(0.0, 10.0), mu)
    (kernel,) = vecdist.explain(target, wrt=(mu,)).kernels
    heads = {line.strip() for line in kernel.schedule.splitlines() if "# " in line}
    assert {"# logpdf of Normal(loc=mu, scale=2)", "# logpdf of Normal(loc=0, scale=10)"} <= heads


def test_runs_have_one_head_each_inside_loops_and_branches_too():
    node = exp(vecdist.lazy(np.ones(3)).node)
    steps = {name: Step(node, "logpdf of D()") for name in ("v1", "v2")}
    both = tuple(Assign(name, "mul", (Name("v0"), Name("v0")), F8) for name in ("v1", "v2"))
    copies = tuple(Assign(f"{name}_1", "mul", (Name("v0"), Name("v0")), F8) for name in ("v1", "v2"))
    head = Note("exp, logpdf of D()")
    assert headed(both, steps) == (head, *both)
    (loop,) = headed((For("i", Name("n"), (If(Name("v0"), copies),)),), steps)
    assert loop.body[0].body == (head, *copies), "copies of a statement have its name and a number"
