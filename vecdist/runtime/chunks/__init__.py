"""What is computed of arrays in chunks: the rounds of programs, run by Dask, or as pieces are read."""
