"""The parts of `wavefront`: tiles on diagonals."""
