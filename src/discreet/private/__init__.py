"""The room: exact counts, what is released of them, and the noise, each with its proof. See queries/README.md."""
