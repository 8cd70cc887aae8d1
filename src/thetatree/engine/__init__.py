"""Engines: sketches made where the rows are, from a file on a laptop to a cluster.

`sql` writes the query for a warehouse, `from_sketches` and `from_hashes` read its answer.
"""

from thetatree.engine.answer import from_hashes, from_sketches
from thetatree.engine.warehouse import sql

__all__ = ["from_hashes", "from_sketches", "sql"]
