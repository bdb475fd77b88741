"""Draws the graph that stands in the README: ``python notebooks/picture.py`` writes graph.svg, as Jupyter shows it."""

from pathlib import Path

import numpy as np

from vecdist import Vectorize, lazy, logpdf
from vecdist.distributions import Gamma, Normal

FILE = Path(__file__).with_name("graph.svg")


def picture() -> str:
    """The graph of the README's first expression, dark on white, for it stands alone on a page of any colour."""
    a, t, x = lazy(np.ones((3, 1)), "a"), lazy(np.array(2.0), "t"), lazy(np.ones(10_000), "x")
    target = logpdf(Vectorize(Gamma, (a, t)), x).sum() + logpdf(Normal(0.0, 1.0), np.log(a)).sum()
    drawn = target._repr_mimebundle_()["text/html"]  # what Jupyter shows
    opening, rest = drawn[drawn.index("<svg") : drawn.index("</svg>")].split(">", 1)
    return f'{opening} color="#1f2328">\n<rect width="100%" height="100%" rx="6" fill="#ffffff"/>{rest}</svg>\n'


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
