"""A released model for people who have to judge it: its report, and the release bundle, a folder to pass on with it."""
