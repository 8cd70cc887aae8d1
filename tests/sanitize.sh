#!/bin/sh
# Builds the kernel with the address and undefined-behaviour sanitizers into build/sanitize and runs the
# tests on it. Usage: sanitize.sh PYTHON [pytest arguments]
set -eu
python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
target=$root/build/sanitize
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --upgrade \
  --target "$target/site" --config-settings=cmake.define.THETATREE_SANITIZE=ON \
  --config-settings=build-dir="$target/cmake" "$root"
asan=$(c++ -print-file-name=libasan.so)
ubsan=$(c++ -print-file-name=libubsan.so)
# The interpreter itself leaks on exit, so leaks are not looked for.
export LD_PRELOAD="$asan $ubsan" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONPATH="$target/site" THETATREE_ORACLE_PROBLEMS="${THETATREE_ORACLE_PROBLEMS:-500}"
cd "$root"
"$python" -c "import thetatree; assert thetatree.__file__.startswith('$target'), thetatree.__file__"
exec "$python" -m pytest -q -p no:cacheprovider "$@"
