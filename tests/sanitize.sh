#!/bin/sh
# Builds the kernel with sanitizers into build/sanitize-KIND and runs the tests on it. KIND is "memory" (addresses and
# undefined behaviour) or "thread". Usage: sanitize.sh PYTHON KIND [pytest arguments]
set -eu
python=$1
kind=$2
shift 2
case $kind in
  memory) sanitizers=address,undefined libraries="asan ubsan" ;;
  thread) sanitizers=thread libraries=tsan ;;
  *) echo "sanitize.sh: $kind is neither memory nor thread" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
target=$root/build/sanitize-$kind

# An environment of its own that sees the other one's packages, but not its editable thetatree.
"$python" -m venv --without-pip "$target/venv"
site=$("$target/venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
"$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))" > "$site/packages.pth"
rm -rf "$site/thetatree"
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --upgrade \
  --target "$site" --config-settings=cmake.define.THETATREE_SANITIZE="$sanitizers" \
  --config-settings=build-dir="$target/cmake" "$root"

for library in $libraries; do LD_PRELOAD="${LD_PRELOAD:-} $(c++ -print-file-name=lib$library.so)"; done
# The interpreter itself leaks on exit, so leaks are not looked for. Reports go to files: pytest holds back what is
# written while a test runs.
reports=$target/report
rm -f "$reports".*
export LD_PRELOAD
export ASAN_OPTIONS="detect_leaks=0 log_path=$reports" UBSAN_OPTIONS="print_stacktrace=1 log_path=$reports"
export TSAN_OPTIONS="suppressions=$root/tests/thread_sanitizer.supp exitcode=66 die_after_fork=0 log_path=$reports"
export THETATREE_ORACLE_PROBLEMS="${THETATREE_ORACLE_PROBLEMS:-500}"
cd "$root"
# Addresses as the thread sanitizer knows them: its shadow has no place for all that the system may draw.
run() { if [ "$kind" = thread ]; then setarch -R "$@"; else "$@"; fi; }
run "$target/venv/bin/python" -c "import thetatree; assert thetatree.__file__.startswith('$target'), thetatree.__file__"
code=0
run "$target/venv/bin/python" -m pytest -q -p no:cacheprovider "$@" || code=$?
for report in "$reports".*; do
  [ -e "$report" ] && cat "$report" && code=1
done
exit $code
