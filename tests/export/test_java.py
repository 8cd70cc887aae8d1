"""The exported Java class, compiled and run, against `predict` on random models."""

import shutil
import subprocess

import numpy as np
from export.engines import lacking
from export.positions import encoded, has_categories
from naive.models import random_model

import thetatree as tt

# Reads "code <column> <label in hexadecimal UTF-8, or null>" and rows of doubles as bits.
PROGRAM = """
import java.io.*;
import java.nio.charset.StandardCharsets;

public final class Main {
  static String text(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; ++i)
      bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  public static void main(String[] arguments) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false);
    for (String line; (line = in.readLine()) != null; ) {
      String[] words = line.split(" ", -1);
      int model = Integer.parseInt(words[1]);
      if (words[0].equals("code")) {
        String label = words[3].equals("null") ? null : text(words[3]);
        out.println(code(model, Integer.parseInt(words[2]), label));
        continue;
      }
      double[] x = new double[words.length - 2];
      for (int i = 0; i < x.length; ++i)
        x[i] = Double.longBitsToDouble(Long.parseUnsignedLong(words[i + 2], 16));
      row(model, x, out);
    }
    out.flush();
  }

CASES
}
"""


def program(cases):
    code, row = [], []
    for i, case in enumerate(cases):
        if has_categories(case):
            code.append(f"if (model == {i}) return M{i}.code(column, label);")
        said = (
            "" if case.tree.classes is None else f'for (double p : M{i}.predictProba(x)) out.print(" " + p);'
        )
        row.append(
            f'if (model == {i}) {{ out.print(M{i}.apply(x) + " " + M{i}.predict(x)); {said} out.println(); }}'
        )
    return PROGRAM.replace("CASES", "\n".join([
        "static double code(int model, int column, String label) {", *code, "return 0; }",
        "static void row(int model, double[] x, PrintStream out) {", *row, "}",
    ]))  # fmt: skip


class Java:
    def __init__(self, cases, folder):
        for program_name in ("javac", "java"):
            if not shutil.which(program_name):
                lacking(program_name)
        self.folder = folder
        (folder / "Main.java").write_text(program(cases))
        for i, case in enumerate(cases):
            (folder / f"M{i}.java").write_text(tt.export.to_java(case.model, name=f"M{i}"), encoding="utf-8")
        sources = [path.name for path in folder.glob("*.java")]
        subprocess.run(
            ["javac", "-encoding", "UTF-8", "-Xlint:all", "-Werror", "-nowarn", *sources],
            cwd=folder,
            check=True,
        )

    def ask(self, lines):
        call = {"cwd": self.folder, "input": "\n".join(lines), "capture_output": True, "text": True}
        done = subprocess.run(["java", "-Xss512k", "Main"], check=True, **call)
        return done.stdout.splitlines()


def answers(cases, folder):
    """Leaf, prediction (the position of the class) and shares of each row, one array a case."""
    java = Java(cases, folder)
    wanted = []
    for i, case in enumerate(cases):
        encoded(case, lambda j, label, i=i: wanted.append((i, j, label)) or 0.0)
    wanted = list(dict.fromkeys(wanted))
    asked = [f"code {i} {j} {'null' if label is None else label.encode().hex()}" for i, j, label in wanted]
    found = dict(zip(wanted, map(float, java.ask(asked)), strict=True)) if asked else {}
    tables = [encoded(case, lambda j, label, i=i: found[i, j, label]) for i, case in enumerate(cases)]
    rows = [
        f"row {i} " + " ".join(f"{bits:x}" for bits in row)
        for i, x in enumerate(tables)
        for row in x.view(np.uint64).tolist()
    ]
    found = iter(java.ask(rows))
    return [np.array([[float(word) for word in next(found).split()] for _ in x]) for x in tables]


def check(cases, folder):
    for case, said in zip(cases, answers(cases, folder), strict=True):
        assert np.array_equal(said[:, 0], case.leaves), case.name
        if case.shares is None:
            assert said[:, 1].tolist() == case.predictions, case.name
        else:
            assert [case.tree.classes[int(k)] for k in said[:, 1]] == case.predictions, case.name
            assert np.array_equal(said[:, 2:], case.shares), case.name


def test_against_predict(tmp_path):
    check([random_model(seed) for seed in range(20)], tmp_path)
