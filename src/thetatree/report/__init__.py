"""A report to hand on, plots, and how things show themselves in a notebook."""
