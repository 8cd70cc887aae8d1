"""The board that the runner, the rewritten Python and the rewritten kernel share.

It says which mutant is active, and which places were reached since it was wiped. Laid out as in `mutant.h`.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

MOST = 1 << 15
SIZE = 4 + MOST
NONE = -1


class Board:
    """The file that THETATREE_MUTANTS names."""

    def __init__(self, path: str) -> None:
        with Path(path).open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), SIZE)

    @staticmethod
    def make(path: Path) -> None:
        """Make a board on which nothing is active."""
        path.write_bytes(struct.pack("i", NONE) + bytes(MOST))

    def activate(self, number: int) -> None:
        """Let one mutant, or none, be active."""
        self._memory[:4] = struct.pack("i", number)

    def wipe(self) -> None:
        """Forget what was reached."""
        self._memory[4:] = bytes(MOST)

    def reached(self) -> list[int]:
        """Give the numbers of the places that were reached."""
        return [number for number, seen in enumerate(self._memory[4:]) if seen]

    def on(self, number: int) -> bool:
        """Note that a place was reached, and say whether its mutant is active."""
        self._memory[4 + number] = 1
        return bool(struct.unpack("i", self._memory[:4])[0] == number)


_board = Board(os.environ["THETATREE_MUTANTS"]) if "THETATREE_MUTANTS" in os.environ else None


def on(number: int) -> bool:
    """Say whether a mutant is active; what the rewritten Python asks."""
    return _board is not None and _board.on(number)
