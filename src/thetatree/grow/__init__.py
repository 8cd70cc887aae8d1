"""Growing a Tree from tallies: stopping rules, depth first and best first."""
