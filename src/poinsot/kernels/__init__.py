"""What kernels are written in: vectors, turns, products of vectors, charts, and tables by name.

A kernel is a Python function on plain numbers and arrays that `engine.build` turns into machine
code. Kernels stand beside the parts that they belong to; nothing here knows any of them.
"""
