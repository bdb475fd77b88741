"""Backends: each compiles generated source and runs it."""
