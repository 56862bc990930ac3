"""What every package may use: errors, files, locks, tables of any library."""
