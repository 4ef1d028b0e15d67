r"""Gradients and sensitivities of simulations, exact to the discrete map.

A run is a chain of maps x_{n+1} = Phi_n(x_n, p), each known by its stage equations. A gradient of
one number goes through the chain once, backwards (the discrete adjoint); sensitivities of many
numbers go forwards, one column for each parameter. Both need one linear system a step, with the
matrix of Newton's method at its solution [HLW06, VI.9].
"""
