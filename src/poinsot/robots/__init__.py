"""URDF and MJCF files as plain descriptions of robots, which `model` converts to models."""
