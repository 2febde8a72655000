"""Programs over sparse and dense operands: SciPy, Numba, GraphBLAS and weft."""
