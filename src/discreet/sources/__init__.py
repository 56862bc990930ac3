"""Ways into the vault: tables in memory, and tables of engines that stay where they are."""
