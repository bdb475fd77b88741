"""From loop nests to source text."""
