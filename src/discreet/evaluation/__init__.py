"""Is it as private as it says? Evaluation of learners and models."""
