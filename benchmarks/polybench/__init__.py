"""The thirty PolyBench kernels, written from their published definitions in three forms each (nested lists, loops over
arrays, NumPy's operators), with textbook C to compare with. `python -m benchmarks.polybench` measures them.
"""
