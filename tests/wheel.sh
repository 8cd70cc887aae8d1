#!/bin/sh
# Builds a wheel and an sdist into dist/, and tries the wheel in empty environments of every Python there is that it
# fits, where no compiler can be found. Usage: tests/wheel.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
rm -rf dist
"$1" -m pip install --quiet --disable-pip-version-check build
"$1" -m build --quiet --outdir dist
ls -l dist
here=$(pwd)
tried=0
for version in 11 12 13 14 15; do
  python=$(command -v "python3.$version" || true)
  [ -n "$python" ] || continue
  room=$(mktemp -d)
  "$python" -m venv "$room/env"
  if "$room/env/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary thetatree \
      --find-links "$here/dist" thetatree; then
    (cd "$room" && env PATH="$room/env/bin" CC=false CXX=false thetatree demo --customers 20000 | tail -1)
    echo "python3.$version: the demo ran from the wheel"
    tried=$((tried + 1))
  else
    echo "python3.$version: no wheel of dist/ fits it"
  fi
  rm -rf "$room"
done
echo "$tried environments tried"
[ "$tried" -gt 0 ]
