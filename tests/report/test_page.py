"""The report's page in a real browser: what it shows, how one walks through it, where a case ends."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from cases import learners, multiway, others, sketched, table, target

import thetatree as tt

TYPE_ALL = """(cases) => cases.map((texts) => {
  for (const [j, text] of Object.entries(texts)) document.getElementById(`case-${j}`).value = text;
  document.getElementById("case").requestSubmit();
  return Number(document.getElementById("verdict").dataset.leaf);
})"""


def settled(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(page, expression):
    """Wait for something to hold; playwright's own way is refused by the page's security policy."""
    for _ in range(1000):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {expression}")


def texts_of(tree, row):
    """What a person types for a row: by feature, as the form takes it."""
    out = {}
    for j in {int(j) for j in tree.feature if j >= 0}:
        feature, value = tree.features[j], row.iloc[j]
        if value is None or value != value:
            out[j] = ""
        elif feature.kind == "category" and len(feature.labels) <= 40:
            known = [str(label) for label in feature.labels]
            out[j] = str(known.index(str(value))) if str(value) in known else "another"
        elif feature.kind == "category":
            out[j] = str(value)
        else:
            out[j] = str(int(value)) if feature.kind == "flag" else repr(float(value))
    return out


def typed_leaves(page, tree, rows):
    page.click("#tab-case")
    return page.evaluate(TYPE_ALL, [texts_of(tree, row) for _, row in rows.iterrows()])


@pytest.fixture(scope="module")
def churn():
    from thetatree.demo import make_customers

    X, y = make_customers(6000)
    return tt.CARTClassifier(criterion="entropy", max_depth=4, min_samples_leaf=30).fit(X, y), X, y


@pytest.mark.parametrize("seed", range(3))
def test_a_typed_case_ends_where_predict_says(opened, seed):
    rng = np.random.default_rng(seed)
    frame = table(rng)
    for model, n_classes in learners(rng):
        model.fit(frame, target(rng, frame, n_classes))
        rows = others(rng, frame)
        with opened(model) as page:
            assert typed_leaves(page, model.tree_, rows) == model.apply(rows).tolist(), model


def test_a_typed_case_in_multiway_and_subset_splits(opened):
    tree = multiway()
    colours = ["blue", "green", "red", "white", "mauve", None]
    rows = pd.DataFrame(
        [(c, s) for c in colours for s in (2.5, np.nextafter(2.5, 3), 9.0, np.nan)],
        columns=["colour", "size"],
    )
    with opened(tree) as page:
        assert typed_leaves(page, tree, rows) == tree.apply(rows).tolist()


def test_a_typed_case_goes_in_parts_where_predict_parts_it(opened):
    rng = np.random.default_rng(4)
    frame = table(rng)
    model = tt.C45Classifier(pruning=None).fit(frame, target(rng, frame, 3))
    rows = others(rng, frame)
    shares = model.predict_proba(rows)
    with opened(model) as page:
        assert typed_leaves(page, model.tree_, rows) == model.apply(rows).tolist()
        said = page.get_attribute("#verdict", "data-says")
        assert said == f"{model.predict(rows)[-1]} {shares[-1].max():.0%}"
        empty = rows.head(1).assign(**dict.fromkeys(rows.columns, np.nan))
        typed_leaves(page, model.tree_, empty)
        until(page, f"document.querySelectorAll('.node.on-path').length > {model.get_depth() + 1}")
        assert "in parts" in page.inner_text("#verdict")


def test_a_typed_case_in_a_tree_grown_from_sketches(opened):
    model, frame, _, _ = sketched()
    rows = frame.head(60).copy()
    rows.loc[::7, "age"] = np.nan
    rows.loc[::5, "plan"] = "never seen"
    rows.loc[::9, "plan"] = None
    tree = model.tree_
    flat = pd.DataFrame(
        {
            f.name: rows[f.name] if f.name in rows else [f.name[5:] in t for t in rows.tags]
            for f in tree.features
        }
    )
    with opened(model) as page:
        assert typed_leaves(page, tree, flat) == model.apply(rows).tolist()
        assert "±" in page.inner_text("#lead")
        page.click("#fit")
        page.click('[data-node="0"]')
        page.click("#tab-node")
        assert "Keys held" in page.inner_text("#pane-node")
        assert page.locator("#pane-node .whisker").count() == 2


def test_a_case_typed_by_hand(opened, churn):
    model, _, _ = churn
    tree = model.tree_
    used = sorted({int(j) for j in tree.feature if j >= 0})
    with opened(model) as page:
        page.click("#tab-case")
        labels = page.locator("#case label").all_inner_texts()
        assert sorted(labels) == sorted(tree.features[j].name for j in used)
        months = [f.name for f in tree.features].index("months")
        page.fill(f"#case-{months}", "3")
        row = pd.DataFrame({f.name: [3 if f.name == "months" else np.nan] for f in tree.features})
        (leaf,) = tree.apply(row).tolist()
        assert int(page.get_attribute("#verdict", "data-leaf")) == leaf
        page.click("#fit")
        settled(page)
        path = page.locator(".node.on-path")
        assert path.count() == tree.depth[leaf] + 1
        assert page.locator(".ribbon.lit").count() == tree.depth[leaf]
        page.fill(f"#case-{months}", "three")
        assert page.inner_text(f"#case-{months}-wrong") == "not a number"
        assert page.get_attribute(f"#case-{months}", "aria-invalid") == "true"
        assert page.locator(".node.on-path").count() == 0
        page.click("#case button[type=reset]")
        until(page, "document.getElementById('verdict').childElementCount === 0")


def test_what_the_page_shows(opened, churn):
    model, X, y = churn
    tree = model.tree_
    with opened(model, (X, y), title="Who leaves", note="for the board") as page:
        assert page.title() == "Who leaves"
        assert page.inner_text("h1") == "Who leaves"
        assert page.inner_text("#note") == "for the board"
        figures = page.inner_text("#key")
        assert f"{tree.n_leaves}\nSegments" in figures
        assert f"{model.score(X, y):.1%}\nAccuracy" in figures
        assert page.locator("#segments tbody tr").count() == min(25, tree.n_leaves)
        assert page.locator("#charts figure").count() == 3
        names = page.locator("#importance tbody th").all_inner_texts()
        order = np.argsort(-model.feature_importances_, kind="stable")
        assert names == [tree.features[j].name for j in order if model.feature_importances_[j] > 0]
        assert "min_samples_leaf\n30" in page.inner_text("#grown")
        page.click("#tab-node")
        page.click('[data-node="1"]')
        pane = page.inner_text("#pane-node")
        assert f"Rows\n{tree.n_node_samples[1]:,}" in pane
        seen = int((model.decision_path(X)[:, 1] != 0).sum())
        assert f"{seen:,} (" in pane


def test_the_charts_follow_the_class(opened):
    model, frame, outcome, sketches = sketched()
    for data in ((frame, outcome), sketches):
        with opened(model, data) as page:
            before = page.inner_text("#charts")
            assert "“left”" in before
            page.select_option("#focus", label="stayed")
            assert "“stayed”" in page.inner_text("#charts")
            assert "Share stayed" in page.inner_text("#segments thead")


def test_folding_and_opening(opened, churn):
    model, _, _ = churn
    tree = model.tree_
    with opened(model) as page:
        shown = page.locator(".node")
        page.click("#all")
        until(page, f"document.querySelectorAll('.node').length === {tree.node_count}")
        page.click('[data-node="0"] .toggle')
        until(page, "document.querySelectorAll('.node').length === 1")
        assert shown.get_attribute("aria-expanded") == "false"
        page.click('[data-node="0"] .toggle')
        page.click("#fit")
        page.click("#less")
        settled(page)
        few = shown.count()
        page.click("#more")
        settled(page)
        assert few < shown.count() <= tree.node_count
        page.dblclick('[data-node="1"]')
        assert page.get_attribute('[data-node="1"]', "aria-selected") == "true"


def test_zoom_and_move(opened, churn):
    def place():
        text = page.get_attribute("#picture > g", "transform")
        return [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]

    with opened(churn[0]) as page:
        x, y, scale = place()
        page.click("#in")
        settled(page)
        assert place()[2] > scale
        page.click("#fit")
        settled(page)
        assert place() == [x, y, scale]
        box = page.locator("#canvas").bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 85, box["y"] + 45, steps=4)
        page.mouse.up()
        settled(page)
        assert place() == pytest.approx([x + 80, y + 40, scale])
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        settled(page)
        assert place()[2] > scale


def test_hovering_tells_the_counts(opened, churn):
    model, _, _ = churn
    with opened(model) as page:
        page.hover('[data-node="1"]')
        tip = page.inner_text("#tip")
        assert f"{model.tree_.n_node_samples[1]:,} rows" in tip
        assert "left" in tip and "stayed" in tip
        page.mouse.move(5, 5)
        assert page.locator("#tip").is_hidden()


def test_search(opened, churn):
    model, _, _ = churn
    tree = model.tree_
    (at,) = np.flatnonzero([f.name == "autopay" for f in tree.features])
    splits = np.flatnonzero(tree.feature == at)
    with opened(model) as page:
        page.fill("#search", "AUTOP")
        said = page.inner_text("#found")
        assert said == f"{len(splits)} split{'s' if len(splits) > 1 else ''}"
        page.click("#all")
        settled(page)
        hit = {int(one.get_attribute("data-node")) for one in page.locator(".node.hit").all()}
        expected = set(splits.tolist())
        for node in splits:
            expected |= set(tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist())
        assert hit == expected
        page.click("#less")
        page.click("#less")
        for node in splits:
            page.press("#search", "Enter")
            page.wait_for_selector(f'[data-node="{node}"].selected')
        page.fill("#search", "no such feature")
        assert page.inner_text("#found") == "no split tests it"
        page.press("#search", "Escape")
        settled(page)
        assert page.locator(".node.hit").count() == 0


def test_keys_walk_through_the_tree(opened, churn):
    def at():
        return int(page.evaluate("document.activeElement.dataset.node ?? -1"))

    tree = churn[0].tree_
    first = tree.children_left
    with opened(churn[0]) as page:
        page.focus('[data-node="0"]')
        page.keyboard.press("ArrowRight")
        assert at() == first[0] == 1
        page.keyboard.press("ArrowLeft")  # folds
        assert at() == 1
        assert page.get_attribute('[data-node="1"]', "aria-expanded") == "false"
        page.keyboard.press("ArrowLeft")  # goes up
        assert at() == 0
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")  # opens
        assert page.get_attribute('[data-node="1"]', "aria-expanded") == "true"
        page.keyboard.press("ArrowRight")
        assert at() == first[1]
        page.keyboard.press("End")
        assert at() != first[1]
        page.keyboard.press("Home")
        assert at() == 0
        assert page.evaluate("document.activeElement.matches(':focus-visible')")
        assert page.locator('.node[tabindex="0"]').count() == 1


def test_light_and_dark(opened, churn):
    def background():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    with opened(churn[0]) as page:
        light = background()
        page.click("#theme")
        dark = background()
        assert light != dark
        assert page.get_attribute("#theme", "aria-pressed") == "true"
        page.click("#theme")
        assert background() == light
    with opened(churn[0], dark=True) as page:
        assert background() == dark
        page.click("#theme")
        assert background() == light


def test_segments_sort_filter_and_copy(opened, churn):
    model, _, _ = churn
    tree = model.tree_
    rules = {rule.leaf: rule for rule in tree.rules()}
    with opened(model) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.click("#segments th:has-text('Rows') button")
        assert page.get_attribute("#segments th:has-text('Rows')", "aria-sort") == "descending"
        leaves = [int(row.get_attribute("data-leaf")) for row in page.locator("#segments tbody tr").all()]
        sizes = [rules[leaf].n for leaf in leaves]
        assert sizes == sorted(sizes, reverse=True)
        page.click("#segments th:has-text('Rows') button")
        again = [int(row.get_attribute("data-leaf")) for row in page.locator("#segments tbody tr").all()]
        assert [rules[leaf].n for leaf in again] == sorted(sizes)
        page.click(f"#segments tr[data-leaf='{leaves[0]}'] button:has-text('Copy')")
        until(page, "document.getElementById('copied').textContent !== ''")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == str(rules[leaves[0]])
        page.click("#copy-all")
        until(page, "document.getElementById('copied').textContent.includes('rules')")
        lines = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert len(lines) == tree.n_leaves + 1
        page.fill("#filter", "autopay")
        shown = page.locator("#segments tbody tr").count()
        assert shown == sum("autopay" in str(rule) for rule in rules.values())
        page.click("#segments tbody tr >> nth=0 >> button:has-text('Show')")
        assert page.evaluate("document.activeElement.classList.contains('node')")


def test_names_are_shown_as_they_are(opened):
    rng = np.random.default_rng(5)
    frame = table(rng)
    model = tt.CARTClassifier(max_depth=6).fit(frame, target(rng, frame, 6))
    title = "</script><script>document.title='taken'</script> & <b>"
    with opened(
        model, (frame, target(rng, frame, 6)), title=title, note="<img src=x onerror=alert(1)>"
    ) as page:
        assert page.title() == title
        assert page.inner_text("h1") == title
        assert page.inner_text("#note") == "<img src=x onerror=alert(1)>"
        assert page.locator("main img, main b").count() == 0
        names = set(page.locator("#importance tbody th").all_inner_texts())
        assert names == {model.tree_.features[j].name for j in np.flatnonzero(model.feature_importances_)}
        page.select_option("#focus", label="no <")
        assert "“no <”" in page.inner_text("#charts")


def test_a_thousand_leaves_stay_usable(opened):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 6))
    model = tt.CARTRegressor(max_leaf_nodes=1000).fit(X, X[:, 0] * X[:, 1] + rng.normal(size=6000))
    with opened(model) as page:
        assert page.locator(".node").count() < 120
        assert page.locator("#segments tbody tr").count() == 25
        page.click("#all")
        assert page.locator(".node text").count() == 0  # too small to read: cards without words
        for _ in range(12):
            page.click("#in")
        settled(page)
        assert page.locator(".node").count() < 120  # only what is in view
        leaf = int(model.tree_.rules()[700].leaf)
        page.evaluate(f"walkTo({leaf})")
        assert page.locator(f'[data-node="{leaf}"]').bounding_box() is not None
        assert page.evaluate("document.activeElement.dataset.node") == str(leaf)
        page.click("#more-rows")
        assert page.locator("#segments tbody tr").count() == 325


def test_one_leaf(opened):
    model = tt.CARTClassifier().fit([[1.0], [1.0]], [True, False])
    with opened(model, (np.ones((2, 1)), [True, False])) as page:
        assert page.locator(".node").count() == 1
        assert "always" in page.inner_text("#segments")
        page.click("#tab-case")
        assert "one leaf" in page.inner_text("#pane-case")


def test_phone_width(opened, churn):
    model, X, y = churn
    with opened(model, (X, y), width=390, height=844) as page:
        assert page.get_attribute("#as-outline", "aria-pressed") == "true"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.click('[data-node="0"] .toggle')
        until(page, "document.querySelectorAll('.node').length === 1")
        page.click("#as-picture")
        settled(page)
        assert page.locator(".node").count() >= 1


def test_print_shows_what_is_open(opened, churn, tmp_path):
    with opened(churn[0]) as page:
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.get_attribute("#picture", "viewBox") is not None
        assert page.locator(".toolbar").is_hidden()
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.get_attribute("#picture", "viewBox") is None
        assert len(page.pdf(print_background=True)) > 10_000


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_no_serious_finding_of_axe(opened, look):
    from importlib.resources import files

    rng = np.random.default_rng(2)
    X = table(rng)
    y = target(rng, X, 3)
    model = tt.CARTClassifier(max_leaf_nodes=6).fit(X, y)
    script = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    width = 390 if look == "phone" else 1440
    with opened(model, (X, y), dark=look == "dark", width=width, bypass_csp=True) as page:
        page.evaluate(script)
        for step in ("", "#tab-case", "#as-outline"):
            if step:
                page.click(step)
            if step == "#tab-case":
                page.evaluate("document.getElementById('case').requestSubmit()")
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious = [
                {"id": one["id"], "nodes": [node["html"][:200] for node in one["nodes"]][:4]}
                for one in found["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], json.dumps(serious, indent=1)
            assert len(found["passes"]) > 20
