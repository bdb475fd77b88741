"""The golden sources are texts to compare with, not modules to collect."""

collect_ignore = ["golden"]
