"""Plants bugs in the kernel, one at a time, and shows which test catches each.

Usage: planted_bugs.py [FIRST:LAST] [pytest arguments]. FIRST:LAST is a part of the list below, as a slice: 0:10 are
the first ten. Works on a copy in build/planted; prints one line per bug and fails if one survives, or if the tests
fail on the kernel as it is.
"""

# ruff: noqa: E501

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "planted"

# Which tests look first, by words in the name of the file a bug is in; the others follow.
TESTS = [
    ("c45 cases fractional", "tests/grow/test_c45_against_oracle.py"),
    ("worth grow", "tests/grow/test_surveys_against_oracle.py"),
    ("", "tests/grow/test_against_oracle.py"),
    ("binned byte value_order screen", "tests/grow/test_ways_to_search.py"),
]

# name, file, what stands there, what is put there
BUGS = [
    ("gini forgets the right side", "criteria.h", "(left / wl + right / wr) / this->node.weight - base_", "(left / wl) / this->node.weight - base_"),
    ("split information in the wrong place", "criteria.h", "information > 0 ? this->gain(l, wl, r, wr) / information : 0.0", "information > 0 ? this->gain(l, wl, r, wr) * information : 0.0"),
    ("theta without its tie breakers", "criteria.h", "if (const int order = compare_scores(candidate.second, best.second, 1)) return order > 0;", ""),
    ("a tie goes to the later candidate", "criteria.h", "return compare_scores(candidate.third, best.third, 1) > 0;", "return compare_scores(candidate.third, best.third, 1) >= 0;"),
    ("min_samples_leaf on the left only", "search.h", "if (l[0] < limits_.min_leaf || r[0] < limits_.min_leaf) return false;", "if (l[0] < limits_.min_leaf) return false;"),
    ("missing values always right", "search.h", "      with_missing(false);\n      with_missing(true);", "      with_missing(false);"),
    ("majority joins the lighter side", "search.h", "crit_.weight(left_ + 1) >= crit_.weight(right_ + 1)", "crit_.weight(left_ + 1) < crit_.weight(right_ + 1)"),
    ("the last exhaustive partition is left out", "search.h", "const uint64_t end = (1ULL << bits) - 1;", "const uint64_t end = (1ULL << bits) - 2;"),
    ("depth limit off by one", "worker.cpp", "node.depth >= rules_.max_depth", "node.depth > rules_.max_depth"),
    ("a threshold on the wrong side", "feature_search.h", "return low <= middle && middle < high ? middle : low;", "return high;"),
    ("routing sends equal values right", "route_branch.h", "case SplitKind::threshold: return value <= tree.threshold[node] ? 0 : 1;", "case SplitKind::threshold: return value < tree.threshold[node] ? 0 : 1;"),
    ("routing forgets the missing branch", "route_branch.h", "if (missing) return tree.missing_branch[node];", "if (missing) return 1;"),
    ("the median of the lower half", "absolute.cpp", "const double median = low == high ? high : low / 2 + high / 2;", "const double median = low - 1;"),
    ("best first stops a leaf early", "grow.cpp", "leaves < rules_.max_leaf_nodes && !open.empty()", "leaves + 1 < rules_.max_leaf_nodes && !open.empty()"),
    ("p2 of the node's loss", "worth.h", "demand(p2, p2 * root_loss);", "demand(p2, p2 * loss);"),
    ("min_gain above nothing", "worth.h", "criterion == Criterion::theta ? 1 - impurity : 0", "0 * impurity"),
    ("min_improvement of the root's loss", "worth.h", "min_improvement * loss);", "min_improvement * root_loss);"),
    ("p1 is not asked", "worker.cpp", "if (rules_.worth.p1 > 0 &&", "if (rules_.worth.p1 > 9 &&"),
    ("the group of the best split first", "grow.cpp", "rules_.largest_first ? worker.loss(node) : node.decrease", "node.decrease"),
    ("a split forced at every depth", "worker.cpp", "const bool forced = node.depth == 0 && rules_.force >= 0;", "const bool forced = rules_.force >= 0;"),
    ("the first tier only", "worker.cpp", "if (best >= 0) return best;\n  }\n  return -1;\n}\n\n// Of all", "return best;\n  }\n  return -1;\n}\n\n// Of all"),
    ("an ordered cut one category short", "feature_search.cpp", "static_cast<size_t>(out_.best.code) + 1", "static_cast<size_t>(out_.best.code)"),
    ("a split without gain", "search.h", "limits_.positive_gain && !(decrease > kTie", "limits_.positive_gain && !(decrease >= -kTie"),
    ("the average gain is not asked", "search_c45.cpp", "one.gain < average - kEpsilon", "one.gain < -kEpsilon"),
    ("many values count in the average", "search_c45.cpp", "kMany = 0.3;", "kMany = 30;"),
    ("a number pays for all its values", "search_c45.cpp", "std::log2(static_cast<double>(cuts))", "std::log2(static_cast<double>(levels.n))"),
    ("the unknown is no outcome of a cut", "search_c45.cpp", "f_(low) - f_(high) - f_(levels.missing);", "f_(low) - f_(high);"),
    ("a fifth of the cases beside a cut", "search_c45.cpp", "kShareOfCases = 0.1;", "kShareOfCases = 0.2;"),
    ("one branch with enough cases is enough", "search_c45.cpp", "out.possible = enough >= 2;", "out.possible = enough >= 1;"),
    ("the threshold is the value above the cut", "grow_c45.cpp", "split.threshold = values[split.code];", "split.threshold = values[above];"),
    ("collapse only of what does worse", "grow_c45.cpp", "errors[id] < as_leaf - kNoWorse", "errors[id] < as_leaf + kNoWorse"),
    ("parts of cases are not parted", "cases.cpp", "weight_of(i) * share[b]);", "weight_of(i));"),
    ("pruning without slack", "prune_c45.cpp", "kSlack = 0.1;", "kSlack = 0;"),
    ("the branch is not looked at", "prune_c45.cpp", "frame.as_leaf <= as_branch + kSlack && ", ""),
    ("a raised branch keeps its errors", "prune_c45.cpp", "frame.as_tree = 0;\n    } else", "} else"),
    ("groups are merged to the end", "groups_c45.h", "if (now >= 0 && better(now, best)) return;", ""),
    ("asked rows are parted evenly", "route_fractional.cpp", "part * (weight_[*child] / all)", "part / static_cast<double>(last - first)"),
    ("bins are never opened", "binned_search.h", "open(wanted, inner);\n    merge", "merge"),
    ("a bound without the missing rows", "binned_search.h", "if (missing_[0] > 0) {\n      add_to(missing_.data(), stride_, left_.data());", "if (missing_[0] > 1e9) {\n      add_to(missing_.data(), stride_, left_.data());"),
    ("an octagon half as wide", "binned_search.h", "{{{0, 1.0 / 6}, {0.25, 0.5}, {0.75, 0.5}, {1, 1.0 / 6}}}", "{{{0, 0.0}, {0.25, 0.1}, {0.75, 0.1}, {1, 0.0}}}"),
    ("the values of the threshold's own bin go left", "worker.cpp", "column.raw.number(rows[i]) <= threshold", "true"),
    ("a list is parted the wrong way", "value_order.cpp", "const bool goes = left_[item & 0xffff] != 0;", "const bool goes = left_[item & 0xffff] == 0;"),
    ("the sibling's counts are not taken away", "byte_tally.cpp", "whole.counts[i] -= part.counts[i]", "whole.counts[i] -= 0"),
    ("a screen that asks too much", "screen.h", "(score - kScreenSlack * node_.impurity) * node_.weight + base_", "(score + 0.01 * node_.impurity) * node_.weight + base_"),
]  # fmt: skip


def environment() -> Path:
    """Make an environment that sees this one's packages but not its editable thetatree."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", WORK / "venv"], check=True)
    python = WORK / "venv" / "bin" / "python"
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(
        subprocess.run([python, "-c", purelib], capture_output=True, text=True, check=True).stdout.strip()
    )
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return site


def install(source: Path, site: Path) -> None:
    """Build and install the copy as it is; with -O1, which builds sooner and gives the same answers."""
    shutil.rmtree(site / "thetatree", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-build-isolation", "--no-deps", "--upgrade", "--target", str(site)]
    command += ["--config-settings=cmake.define.THETATREE_OPTIMIZE=-O1"]
    command += [f"--config-settings=build-dir={WORK / 'cmake'}", str(source)]
    subprocess.run(command, check=True)


def rebuild(site: Path) -> None:
    """Compile what changed and put the new kernel beside the Python."""
    ninja = Path(sys.executable).with_name("ninja")
    subprocess.run([ninja, "-C", WORK / "cmake", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    (kernel,) = (WORK / "cmake").glob("_kernel*.so")
    shutil.copy(kernel, site / "thetatree" / kernel.name)


def ordered(file: str) -> list[str]:
    """All tests, those first that know the file."""
    return [
        path for _, path in sorted(TESTS, key=lambda test: not any(word in file for word in test[0].split()))
    ]


def caught_by(arguments: list[str]) -> str | None:
    """Run the tests until one fails; return its name, or None if all pass. Tests that cannot run tell nothing."""
    command = [WORK / "venv" / "bin" / "python", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    result = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return None
    if result.returncode < 0:
        return f"a crash, signal {-result.returncode}"
    failed = [line for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if not failed:
        raise SystemExit(f"the tests did not run: {(result.stdout + result.stderr)[-500:]}")
    return failed[0].split(" - ")[0]


def main() -> int:
    """Try every bug of the part that was asked for."""
    arguments = sys.argv[1:]
    bugs = BUGS
    if arguments and (part := re.fullmatch(r"(\d*):(\d*)", arguments[0])):
        bugs = BUGS[slice(*(int(end) if end else None for end in part.groups()))]
        arguments = arguments[1:]
    os.environ.setdefault("THETATREE_ORACLE_PROBLEMS", "1000")
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("kernel", "src"):
        # With today's times, or what was built from a bug would pass for up to date.
        shutil.copytree(ROOT / name, source / name, copy_function=shutil.copy)
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    site = environment()
    install(source, site)
    if found := caught_by(arguments or ordered("")):
        raise SystemExit(f"the kernel as it is fails {found}")
    survived = 0
    for name, file, old, new in bugs:
        path = source / "kernel" / file
        text = path.read_text()
        if text.count(old) != 1:
            raise SystemExit(f"{name}: its place in {file} is not there once; mend this list")
        path.write_text(text.replace(old, new))
        rebuild(site)
        found = caught_by(arguments or ordered(file))
        print(f"{'caught  ' if found else 'SURVIVED'} {name}: {found}", flush=True)
        survived += found is None
        path.write_text(text)
    print(f"{len(bugs) - survived} of {len(bugs)} caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
