"""The `thetatree` command: what the library does, from a shell.

Each command reads files, calls what the library offers, and writes files; nothing is computed here. Results
go to standard output, everything else (progress, notes, errors) to standard error.
"""
