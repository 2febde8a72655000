"""Devices: the same function as kernels for OpenCL or CUDA.

    lowered Program --split--> Plan (host steps, kernels) --kernels--> text in a dialect --engine--> launches
"""
