"""The only access to exact counts. README.md beside this file says what to check."""
