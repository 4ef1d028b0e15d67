"""Frames (phi, d1, d2, d3) of bodies, and the vectors, forms and coordinates made of them."""
