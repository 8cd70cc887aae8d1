#!/bin/sh
# Builds the sdist and the wheels (one for 3.11, one for the stable ABI of 3.12 and later) into dist/. Then, for every
# Python there is: installs the wheel into an empty environment, with nothing on the path but that environment (so no
# compiler), runs the demo, and runs a part of the tests against what was installed.
# Usage: tests/wheel.sh [MINOR ...]     (11 12 13 14 15 by default; dist/ is kept if it holds wheels already and KEEP=1)
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
minors=${*:-11 12 13 14 15}
PATH="$PATH:$(printf '%s:' "$HOME"/.pyenv/versions/3.*/bin)"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ -n "${KEEP:-}" ] || rm -rf dist

python_of() { # the Python of a minor version, if there is one that runs
  found=$(command -v "python3.$1" || true)
  [ -n "$found" ] && "$found" -c '' 2>/dev/null && "$found" -c 'import sys; print(sys.executable)'
}

build_with() { # builds a wheel, and the sdist that it is made of, by one Python
  "$1" -m venv "$room/builder"
  "$room/builder/bin/python" -m pip install --quiet --disable-pip-version-check build
  "$room/builder/bin/python" -m build --quiet --outdir dist "$here"
  rm -rf "$room/builder"
}

try_with() { # the wheel in an empty environment of one Python
  "$1" -m venv "$room/env"
  alone="env -i HOME=$room PATH=$room/env/bin"
  $alone pip install --quiet --disable-pip-version-check --find-links dist --only-binary :all: thetatree
  (cd "$room" && $alone thetatree demo --customers 20000 | tail -1)
  $alone pip install --quiet --disable-pip-version-check --only-binary :all: pytest
  mkdir "$room/tests"
  cp -r tests/conftest.py tests/cli tests/tree tests/naive "$room/tests"
  (cd "$room" && $alone python -m pytest -q -p no:cacheprovider tests/cli tests/tree \
    --ignore tests/cli/test_documented_commands.py -k "not yaml and not sql and not onnx and not demo" | tail -3)
  rm -rf "$room/env" "$room/tests"
}

newer=no
tried=0
for minor in $minors; do
  python=$(python_of "$minor") || continue
  if [ "$minor" = 11 ] || [ "$newer" = no ]; then
    [ -n "${KEEP:-}" ] || build_with "$python"
    [ "$minor" = 11 ] || newer=yes
  fi
  try_with "$python"
  echo "python3.$minor: installed without a compiler, the demo and the tests ran"
  tried=$((tried + 1))
done
ls -l dist
echo "$tried Pythons tried"
[ "$tried" -gt 0 ]
