"""Lazy log densities, fused with their gradients into one kernel."""
