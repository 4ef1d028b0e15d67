"""Measures Poinsot against Exudyn and MuJoCo: the same mechanisms, one run, one core."""
