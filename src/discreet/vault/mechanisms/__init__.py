"""The noise behind the doors. One short file each: the mechanism, its price, its proof, its exact probabilities."""
