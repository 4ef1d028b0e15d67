"""The public names, and where each of them comes from."""

from poinsot.fmi.export import export_fmu as export_fmu
