"""Finite elements: the matrices of beams, and of elastic continua on meshes of scikit-fem."""
