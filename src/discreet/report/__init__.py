"""A released model for people who have to judge it: its report, and the folder (bundle) that may leave with it."""
