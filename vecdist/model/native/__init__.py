"""C entry points to compiled log densities on the CPU."""
