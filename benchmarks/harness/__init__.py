"""`weft bench`: kernels x frameworks, each attempt in a process of its own, checked against NumPy before timing."""
