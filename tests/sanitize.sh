#!/bin/sh
# Builds the kernel with the address and undefined-behaviour sanitizers into build/sanitize and runs the
# tests on it. Usage: sanitize.sh PYTHON [pytest arguments]
set -eu
python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
target=$root/build/sanitize

# An environment of its own that sees the other one's packages, but not its editable thetatree.
"$python" -m venv --without-pip "$target/venv"
site=$("$target/venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
"$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))" > "$site/packages.pth"
rm -rf "$site/thetatree"
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --upgrade \
  --target "$site" --config-settings=cmake.define.THETATREE_SANITIZE=ON \
  --config-settings=build-dir="$target/cmake" "$root"

# The interpreter itself leaks on exit, so leaks are not looked for.
LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so)"
export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
export THETATREE_ORACLE_PROBLEMS="${THETATREE_ORACLE_PROBLEMS:-500}"
cd "$root"
"$target/venv/bin/python" -c "import thetatree; assert thetatree.__file__.startswith('$target'), thetatree.__file__"
exec "$target/venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
