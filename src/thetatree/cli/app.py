"""The command itself: its commands, options for all of them, and how errors end.

Exit codes: 0 done, 1 it could not be done (one line says why and what would help), 2 the command line was
wrong, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from thetatree.cli import fit, models, refresh, share, sketches, use
from thetatree.cli.config import read_config

app = typer.Typer(
    name="thetatree",
    help="Grow decision trees from rows and from theta sketches, and use them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    sketches.sketch,
    sketches.merge,
    sketches.inspect,
    sketches.sql,
    refresh.refresh,
    fit.fit,
    models.prune,
    models.show,
    use.predict,
    use.evaluate,
    share.report,
    share.export,
    share.compare,
    share.demo,
):
    # The first line of the docstring: left to itself, the list of commands would cut it.
    app.command(short_help=(command.__doc__ or "").partition("\n")[0])(command)

_INTERRUPTED = 130
_debug = False


def _show_version(wanted: bool) -> None:
    if wanted:
        from thetatree import __version__

        typer.echo(f"thetatree {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Defaults for options: TOML or YAML with a table for each command.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which version this is.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Grow decision trees from rows and from theta sketches, and use them."""
    global _debug  # noqa: PLW0603 - read by main, after the command has failed
    _debug = debug
    if config is not None:
        context.default_map = read_config(config, context.command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    global _debug  # noqa: PLW0603
    _debug = "--debug" in (sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    command: Any = typer.main.get_command(app)
    try:
        given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
        code = command.main(given, prog_name="thetatree", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("not enough memory for this; give fewer columns, or sketch the rows first", 1)
    except Exception as error:
        if _debug:
            traceback.print_exc()
        return _report(error)
    if code == _INTERRUPTED:
        return _fail("interrupted; nothing was left half-written", code)
    return code if isinstance(code, int) else 0


def _show_warning(message: Warning | str, *_: Any) -> None:
    print(f"thetatree: note: {' '.join(str(message).split())}", file=sys.stderr)


def _report(error: Exception) -> int:
    """Say in one line what went wrong."""
    usage = getattr(error, "format_message", None)
    if usage is not None:  # the command line itself
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "thetatree"
        return _fail(f"{usage()} (see '{path} --help')", int(getattr(error, "exit_code", 2)))
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{where}{error.strerror}", 1)
    text = str(error) or type(error).__name__
    if not isinstance(error, (ValueError, TypeError, OSError, ImportError, RuntimeError)):
        text = f"{type(error).__name__}: {text} (--debug shows where)"
    return _fail(text, 1)


def _fail(text: str, code: int) -> int:
    print(f"thetatree: {' '.join(text.split())}", file=sys.stderr)
    return code
