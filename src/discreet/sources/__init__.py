"""From records to counts: tables in memory, and tables of engines that stay where they are."""
