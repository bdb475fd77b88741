"""From a graph to its values: what is compiled, kept, launched and run, on either target."""
