"""Rows with several values in one cell: an array, and the same as text with a separator."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import thetatree as tt
from thetatree.engine import from_sketches, spark, sql

LG_K = 8
SEPARATOR = "|"
LISTED = ["a", "it's", "other"]
ASKED = {
    "key": "id",
    "target": "buys",
    "features": {"tags": "multi", "labels": "multi", "some": "multi"},
    "lists": {"tags": None, "labels": SEPARATOR, "some": SEPARATOR},
    "values": {"some": LISTED},
    "lg_k": LG_K,
}
TAGS = ["a", "b c", "it's", "grün", "\\x", "."]


def rows(n=1500, *, gaps=True):
    """Arrays may be null, empty, and hold nulls, empty texts and a value twice."""
    rng = np.random.default_rng(7)
    tags = []
    for i in range(n):
        some = rng.choice(TAGS, rng.integers(0, 4)).tolist()
        some += [None] * (i % 11 == 0) + [""] * (i % 13 == 0) + some[:1] * (i % 3 == 0)
        tags.append(None if gaps and i % 7 == 0 else some)
    labels = pd.Series([found and SEPARATOR.join(x or "" for x in found) for found in tags], dtype=object)
    labels[[i for i, found in enumerate(tags) if found == []]] = ""
    buys = ["yes" if found and "a" in found and i % 4 else "no" for i, found in enumerate(tags)]
    ids = rng.integers(-(2**60), 2**60, n)
    return pd.DataFrame({"id": ids, "buys": buys, "tags": tags, "labels": labels, "some": labels})


def by_builder(frame):
    """What the builder makes of them, text being split first: empty text is missing, as everywhere."""
    split = [text.split(SEPARATOR) if text else None for text in frame["labels"]]
    some = [found and ["other" if x and x not in LISTED else x for x in found] for found in split]
    columns = {"id": frame["id"], "buys": frame["buys"], "tags": frame["tags"].tolist()}
    kinds = dict.fromkeys(("tags", "labels", "some"), "multi")
    table = pa.table(columns | {"labels": split, "some": some})
    return tt.sketch(table, "id", "buys", kinds, lg_k=LG_K)


def written(frame, folder):
    """Write them as Parquet."""
    path = folder / "lists.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    return path


def check_lists_of_spark(session, folder):
    """Arrays by the data frame's types, and separated text by the query."""
    frame = session.read.parquet(str(written(rows(), folder)))
    expected = by_builder(rows())
    made = spark.sketch(frame.select("id", "buys", "tags"), "id", "buys", lg_k=LG_K)
    assert made == expected.select(["tags"])
    frame.createOrReplaceTempView("listed")
    answer = session.sql(sql("spark", "listed", **ASKED, counts=None)).toArrow()
    assert from_sketches(answer, **ASKED) == expected
