"""Robots in files of others, URDF and MJCF, as plain descriptions; `model` makes models of them."""
