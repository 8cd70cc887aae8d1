"""The demo runs, and its last line is the path of a model that loads."""

import thetatree as tt
from thetatree import demo


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == str((tmp_path / "demo-output" / "customers.json").resolve())
    assert "predicts the same: True" in "\n".join(lines)
    X, y = demo.make_customers(2000, seed=5)
    common = (y == y.mode()[0]).mean()
    assert tt.load(lines[-1]).score(X, y) > common + 0.05
