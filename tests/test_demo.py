"""The demo runs, and its last lines are the paths of a model that loads and of a report."""

import thetatree as tt
from thetatree import demo


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    folder = (tmp_path / "demo-output").resolve()
    assert lines[-1] == str(folder / "customers.html")
    assert "Who leaves within the year" in (folder / "customers.html").read_text(encoding="utf-8")
    assert lines[-3] == str(folder / "customers.json")
    assert "predicts the same: True" in "\n".join(lines)
    X, y = demo.make_customers(2000, seed=5)
    common = (y == y.mode()[0]).mean()
    assert tt.load(lines[-3]).score(X, y) > common + 0.05
