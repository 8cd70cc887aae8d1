"""The command as installed: help, version, completion, progress for a person only."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from people import make_table

import thetatree as tt
from thetatree.cli.app import app, main

COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands)


def test_help_names_every_command(run):
    out = run("--help").out
    for name in COMMANDS:
        assert f"\n  {name}" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name, run):
    done = run(name, "--help")
    assert done.code == 0
    import typer

    command = typer.main.get_command(app).commands[name]
    for param in command.params:
        assert getattr(param, "help", None), f"{name} {param.name}"


def test_version(run):
    assert run("--version").out.strip() == f"thetatree {tt.__version__}"


def test_no_command_shows_help(run):
    done = run()
    assert "Commands" in done.out + done.err


def test_installed_command_and_completion():
    command = Path(sys.executable).with_name("thetatree")
    env = {
        **os.environ,
        "_THETATREE_COMPLETE": "complete_bash",
        "COMP_WORDS": "thetatree fi",
        "COMP_CWORD": "1",
    }
    done = subprocess.run([command], env=env, capture_output=True, text=True, check=False)
    assert "fit" in done.stdout.split()


def test_a_bar_for_a_person(tmp_path, monkeypatch):
    """On a terminal a bar appears after a second; the result on standard output is untouched by it."""
    monkeypatch.chdir(tmp_path)
    make_table().to_csv("people.csv", index=False)
    program = (
        "import sys, time; from thetatree import progress\n"
        "with progress.progress('working', 10) as advance:\n"
        "    for i in range(10): time.sleep(0.16); advance(1)\n"
        "with progress.progress('thinking') as advance: time.sleep(1.2)\n"
        "with progress.progress('reading', 1e6, 'bytes') as advance: advance(5e5)\n"
        "print('done')"
    )
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm"},
    )
    out, _ = process.communicate(timeout=60)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert out == b"done\n"
    assert "working" in shown
    assert "rows/s" in shown
    assert "thinking" in shown
    assert "reading" not in shown  # it took no second


def test_memory_and_interrupts_end_in_a_line(monkeypatch, run, folder):
    import thetatree.cli.fit as fit

    def fails(error):
        def read(*_, **__):
            raise error

        return read

    monkeypatch.setattr(fit, "read_table", fails(MemoryError()))
    done = run("fit", "people.csv", "--target", "left")
    assert (done.code, "not enough memory" in done.err) == (1, True)
    monkeypatch.setattr(fit, "read_table", fails(KeyboardInterrupt()))
    done = run("fit", "people.csv", "--target", "left")
    assert (done.code, "interrupted" in done.err) == (130, True)
    monkeypatch.setattr(fit, "read_table", fails(ZeroDivisionError("oh")))
    done = run("fit", "people.csv", "--target", "left")
    assert (done.code, "ZeroDivisionError" in done.err) == (1, True)


def test_demo(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--customers", "20000"]) == 0


def test_the_command_starts_light():
    """What takes its time to import is imported by the commands that need it."""
    program = (
        "import sys, thetatree.cli.app; "
        "heavy = ('sklearn', 'pandas', 'scipy', 'narwhals', 'rich', 'matplotlib', 'duckdb', 'sqlglot'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
