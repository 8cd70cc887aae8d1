"""Readable oracles: slow, written from the contract alone, and sharing no code with what they judge."""
