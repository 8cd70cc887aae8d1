"""What a split is, and what makes one good."""
