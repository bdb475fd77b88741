"""Models: named parameters in one vector, and a log density of it that samplers call."""
