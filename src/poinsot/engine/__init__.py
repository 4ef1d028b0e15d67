"""The compiled engine: kernels on plain arrays; `mechanics.compiled` builds them from models.

Importing it imports Numba, so nobody does before it is needed.
"""
