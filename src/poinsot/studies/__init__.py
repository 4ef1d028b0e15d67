"""Studies of parameters: many runs of a model that differ in some of its numbers."""
