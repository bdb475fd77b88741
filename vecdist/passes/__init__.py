"""Passes: each a function from graph to graph, in a file of its name."""
