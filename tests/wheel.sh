#!/bin/sh
# Builds the sdist and the wheels (one for 3.11, one for the stable ABI of 3.12 and later) into dist/. Then, for every
# Python there is: installs the wheel into an empty environment with nothing else on the path (so no compiler), runs
# the demo, and runs a part of the tests against what was installed.
# Usage: tests/wheel.sh [MINOR ...]     11 to 15 by default; with KEEP=1 the wheels in dist/ are not built again
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
minors=${*:-11 12 13 14 15}
PATH="$PATH:$(printf '%s:' "$HOME"/.pyenv/versions/3.*/bin)"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ -n "${KEEP:-}" ] || rm -rf dist

python_of() { # the Python of a minor version, if there is one that runs
  for found in $(command -v "python3.$1") "$HOME"/.pyenv/versions/3."$1".*/bin/python3."$1"; do
    "$found" -c 'import sys; print(sys.executable)' 2>/dev/null && return
  done
  return 1
}

build_with() { # the wheel and the sdist that it is made of
  "$1" -m venv "$room/builder"
  "$room/builder/bin/python" -m pip install --quiet --disable-pip-version-check build
  "$room/builder/bin/python" -m build --quiet --outdir dist "$here"
  rm -rf "$room/builder"
}

try_with() { # the wheel in an empty environment, whose programs are all there are
  "$1" -m venv "$room/env"
  alone="env PATH=$room/env/bin"
  $alone pip install --quiet --disable-pip-version-check --find-links dist --only-binary :all: thetatree
  (cd "$room" && $alone thetatree demo --customers 20000 >demo.txt && echo "demo: report at $(tail -1 demo.txt)")
  $alone pip install --quiet --disable-pip-version-check --only-binary :all: pytest polars pyyaml duckdb onnx sqlglot
  mkdir "$room/tests"
  cp -r tests/conftest.py tests/naive tests/cli tests/tree "$room/tests"
  # Left out: what runs other programs of the path.
  (cd "$room" && $alone python -m pytest -q -p no:cacheprovider tests/cli tests/tree \
    --ignore tests/cli/test_documented_commands.py -k "not demo and not had_enough" >tests.txt) ||
    { tail -40 "$room/tests.txt"; return 1; }
  tail -1 "$room/tests.txt"
  rm -rf "$room/env" "$room/tests"
}

tried=0
for minor in $minors; do
  python=$(python_of "$minor") || continue
  tag=cp312-abi3
  [ "$minor" != 11 ] || tag=cp311-cp311
  ls dist/*-"$tag"-*.whl >/dev/null 2>&1 || build_with "$python"
  try_with "$python"
  echo "python3.$minor: installed without a compiler; the demo and the tests ran"
  tried=$((tried + 1))
done
ls -l dist
echo "$tried Pythons tried"
[ "$tried" -gt 0 ]
