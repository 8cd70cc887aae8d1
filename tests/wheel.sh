#!/bin/sh
# Builds the sdist and the wheels (one for 3.11, one for the stable ABI of 3.12 and later) into dist/, and runs the demo from
# them in an empty environment of every Python there is, where no compiler can be found.
# Usage: tests/wheel.sh
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
PATH="$PATH:$(printf '%s:' "$HOME"/.pyenv/versions/3.*/bin)"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
rm -rf dist

build_with() { # builds a wheel by one Python
  "$1" -m venv "$room/builder"
  "$room/builder/bin/python" -m pip install --quiet --disable-pip-version-check build
  "$room/builder/bin/python" -m build --quiet --outdir dist "$here"
  rm -rf "$room/builder"
}

newer=no
tried=0
for minor in 11 12 13 14 15; do
  python=$(command -v "python3.$minor" || true)
  [ -n "$python" ] && "$python" -c '' 2>/dev/null || continue
  if [ "$minor" = 11 ] || [ "$newer" = no ]; then
    build_with "$python"
    [ "$minor" = 11 ] || newer=yes
  fi
  "$python" -m venv "$room/env"
  "$room/env/bin/python" -m pip install --quiet --disable-pip-version-check --find-links dist --only-binary thetatree thetatree
  (cd "$room" && CC=false CXX=false "$room/env/bin/thetatree" demo --customers 20000 | tail -1)
  echo "python3.$minor: the demo ran from the wheel"
  rm -rf "$room/env"
  tried=$((tried + 1))
done
ls -l dist
echo "$tried Pythons tried"
[ "$tried" -gt 0 ]
