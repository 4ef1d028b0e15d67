"""The compiled engine: kernels on arrays, which `systems.compiled` makes of mechanisms.

`build` turns kernels into machine code; `runner` is what a run asks of the engine. Numba is
imported for a build, and for inputs that are Numba functions.
"""

from poinsot.ph.stages import ROUND_OFF as ROUND_OFF
from poinsot.ph.stages import STALLED as STALLED

#: Part of the violation of a constraint, itself round-off, that is taken back in one step; in both
#: engines.
DRIFT = 1e-2
#: Part of a position that a velocity times h may fall short of without being noticed; times
#: Newton's relative tolerance this is the round-off of positions. In both engines.
REST = 1e-5
