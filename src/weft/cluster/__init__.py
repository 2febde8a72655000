"""Beyond one process: a sequential function in tiles, on Ray or on MPI ranks."""
