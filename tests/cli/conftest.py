"""A folder with a table, and the command run in it."""

import pytest
from people import make_table

from thetatree.cli.app import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = make_table()
    table.to_csv("people.csv", index=False)
    table.to_parquet("people.parquet")
    return tmp_path


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capfd):
    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run
