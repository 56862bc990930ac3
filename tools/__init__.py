"""Programs that make what the documentation shows, and that try what is shipped. Nothing here is installed."""
