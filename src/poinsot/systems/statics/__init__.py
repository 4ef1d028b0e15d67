"""Rest and steady motion: configurations in which the forces on a system are in balance."""
