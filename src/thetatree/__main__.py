"""`python -m thetatree` is the `thetatree` command."""

import sys

from thetatree.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
