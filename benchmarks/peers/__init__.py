"""The codes under test, each behind the same small interface."""
