"""The compiled engine: kernels on plain arrays; `mechanics.compiled` builds them from models.

Importing its kernels imports Numba, so nobody does before it is needed; `runner` is what a run asks
of it, and imports none.
"""

#: Part of the violation of a constraint, itself round-off, that is taken back in one step; in both
#: engines.
DRIFT = 1e-2
#: Part of a position that a velocity times h may fall short of without being noticed; times
#: Newton's relative tolerance this is the round-off of positions. In both engines.
REST = 1e-5
