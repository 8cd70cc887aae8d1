"""Engines: sketches made where the rows are, from a file on a laptop to a cluster.

`sql` writes the query for a warehouse; `from_sketches`, `from_hashes`, `from_rows` and `from_sums` read its
answer. `thetatree.engine.spark` asks Spark itself.
"""

from thetatree.engine.answer import from_hashes, from_rows, from_sketches, from_sums
from thetatree.engine.warehouse import sql

__all__ = ["from_hashes", "from_rows", "from_sketches", "from_sums", "sql"]
