"""The room: the only code that sees records' patterns and exact counts. README.md beside this file says what to check."""
