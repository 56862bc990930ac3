"""The only ways to ask exact counts for something. README.md beside this file says what to check."""
