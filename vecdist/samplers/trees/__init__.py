"""The No-U-Turn sampler as a machine of each chain's own: fed with one gradient after another, it asks for the next."""
