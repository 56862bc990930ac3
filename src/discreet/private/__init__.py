"""Exact counts, what is released of them, and the noise, each with its proof: see queries/README.md."""
