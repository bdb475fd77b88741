"""The graph of an expression: nodes, their shapes and the arrays at its leaves."""
