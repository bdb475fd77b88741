"""Loop nests: what a kernel does, and how a graph becomes one."""
