"""SQL engines that exported queries run in. Each has `rows(frame, query)`: the query's rows on the table "t".

Of the frame's columns float64 ones are doubles, categorical ones whole numbers, those of booleans flags, and
all others text. Where an engine has NaN, every other missing number is NaN and not NULL.
"""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

TYPES = {"number": "DOUBLE PRECISION", "code": "BIGINT", "flag": "BOOLEAN", "text": "TEXT"}


def kind_of(column: pd.Series) -> str:
    if column.dtype == np.float64:
        return "number"
    if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype == np.int64:
        return "code"
    known = column.dropna()
    return "flag" if len(known) and isinstance(known.iloc[0], bool) else "text"


def cells(column: pd.Series, nan: bool) -> list:
    """The column as Python values, None where missing; if `nan`, NaN for every other missing number."""
    out = [None if pd.isna(value) else value for value in column.tolist()]
    if kind_of(column) == "number" and nan:
        out = [float("nan") if value is None and i % 2 else value for i, value in enumerate(out)]
    return out


def records(frame: pd.DataFrame, nan: bool) -> list[tuple]:
    return list(zip(*(cells(frame[name], nan) for name in frame), strict=True))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def definition(frame: pd.DataFrame) -> str:
    columns = ", ".join(f"{quoted(name)} {TYPES[kind_of(frame[name])]}" for name in frame)
    return f"CREATE TABLE t ({columns})"


class Sqlite:
    def rows(self, frame: pd.DataFrame, query: str) -> list[tuple]:
        with sqlite3.connect(":memory:") as connection:
            connection.execute(definition(frame))
            places = ", ".join("?" * frame.shape[1])
            connection.executemany(f"INSERT INTO t VALUES ({places})", records(frame, nan=False))
            found = connection.execute(query).fetchall()
        connection.close()
        return found


class DuckDB:
    def rows(self, frame: pd.DataFrame, query: str) -> list[tuple]:
        import duckdb
        import pyarrow as pa

        arrow = {"number": pa.float64(), "code": pa.int64(), "flag": pa.bool_(), "text": pa.string()}
        columns = [pa.array(cells(frame[name], nan=True), arrow[kind_of(frame[name])]) for name in frame]
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            connection.register("t", pa.table(columns, names=list(frame)))
            return connection.execute(query).fetchall()


class Postgres:
    """A server of its own, on a socket in a temporary folder, as a user that is not root."""

    def __init__(self, folder: Path) -> None:
        import psycopg

        programs = _postgres_programs()
        self._folder = folder
        owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if owner:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        options = ["-U", "tester", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"]
        initdb = [*owner, str(programs / "initdb"), "-D", str(data), *options]
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder)
        server = [*owner, str(programs / "postgres"), "-D", str(data), "-k", str(folder)]
        server += ["-c", "listen_addresses=", "-c", "fsync=off"]
        self._log = (folder / "log").open("wb")
        self._server = subprocess.Popen(server, stdout=self._log, stderr=self._log, cwd=folder)
        for _ in range(300):
            try:
                self._connection = psycopg.connect(host=str(folder), user="tester", dbname="postgres")
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        else:
            raise RuntimeError((folder / "log").read_text())

    def prepare(self, statements: str) -> None:
        self._connection.execute(statements)
        self._connection.commit()

    def load(self, frame: pd.DataFrame) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS t")
            cursor.execute(definition(frame))
            with cursor.copy("COPY t FROM STDIN") as copy:
                for record in records(frame, nan=True):
                    copy.write_row(record)

    def psql(self, query: Path) -> str:
        """The CSV that the command line's client makes of a query in a file."""
        who = ["-h", str(self._folder), "-U", "tester", "postgres"]
        command = [
            shutil.which("psql") or str(_postgres_programs() / "psql"),
            "--csv",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            str(query),
            *who,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def rows(self, frame: pd.DataFrame, query: str) -> list[tuple]:
        self.load(frame)
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            found = cursor.fetchall()
        self._connection.rollback()
        return found

    def close(self) -> None:
        self._connection.close()
        self._server.terminate()
        self._server.wait(20)
        self._log.close()


def _postgres_programs() -> Path:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    if found:
        folders.append(Path(found).parent)
    if not folders:
        lacking("postgresql")
    return folders[-1]


class Spark:
    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").appName("thetatree")
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._session = builder.getOrCreate()
        self._session.sparkContext.setLogLevel("OFF")

    def rows(self, frame: pd.DataFrame, query: str) -> list[tuple]:
        from pyspark.sql import types

        kinds = {
            "number": types.DoubleType(),
            "code": types.LongType(),
            "flag": types.BooleanType(),
            "text": types.StringType(),
        }
        schema = types.StructType([types.StructField(n, kinds[kind_of(frame[n])]) for n in frame])
        self._session.createDataFrame(records(frame, nan=True), schema).createOrReplaceTempView("t")
        return [tuple(row) for row in self._session.sql(query).collect()]

    def close(self) -> None:
        self._session.stop()


def lacking(what: str) -> None:
    """Skip a test for want of a program; where everything has to be there, fail."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def temporary_folder() -> Path:
    """A folder with a short name, which sockets need, that another user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="tt", dir="/tmp"))
    folder.chmod(0o755)
    return folder
