"""Ways into the vault: tables in memory, for now."""
