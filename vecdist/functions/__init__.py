"""Functions of scalars in plain Python, made into graphs: their syntax is interpreted on nodes."""
