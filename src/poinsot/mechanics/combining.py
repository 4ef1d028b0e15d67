"""What `ph.combining` does, where the steps of mechanisms look for it."""

from poinsot.ph.combining import combined, labels_of, spread_out

__all__ = ["combined", "labels_of", "spread_out"]
