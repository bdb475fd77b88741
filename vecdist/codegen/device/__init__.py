"""Loop nests as one function for one thread, called from functions and kernels that others write."""
