"""A standing tree counted on a sketch set by definition: keys by `Sources.resolve`, conserved."""

from .sketch_tree import conserve


def cells_by_branch(tree, node, sources):
    """For each branch of a node a mark per cell; the last cell is missing."""
    place = int(tree.feature[node])
    kind, n_units = sources.shapes[place]
    n_branches = int(tree.child_start[node + 1] - tree.child_start[node])
    if kind == 1:
        at = slice(tree.category_start[node], tree.category_start[node + 1])
        branch = dict(zip(tree.category[at].tolist(), tree.category_branch[at].tolist(), strict=True))
        default = 1 if n_branches == 2 else int(tree.missing_branch[node])
        to = [branch.get(unit, default) for unit in range(n_units)] + [default]
    elif kind == 2:
        edges = sources.data.features[sources.tested[place].feature].edges
        to = [int(not edge <= tree.threshold[node]) for edge in edges] + [1]
    else:
        to = [0, 1]
    to.append(int(tree.missing_branch[node]))
    return [[int(t == b) for t in to] for b in range(n_branches)]


def count_tree(tree, sources):
    """Per node: (count, variance) by class, θ by class, held keys."""
    n_classes = len(sources.classes)

    def count(c, allowed):
        keys, tau = sources.resolve(c, allowed)
        return len(keys) / tau, len(keys) / tau * (1 - tau) / tau, len(keys), tau

    def marked(allowed, place, *branches):
        marks = [max(cells) for cells in zip(*branches, strict=True)]
        old = allowed.get(place, [1] * len(marks))
        others = {p: m for p, m in allowed.items() if p != place}
        return {**others, place: [a & b for a, b in zip(old, marks, strict=True)]}

    whole = [count(c, {}) for c in range(n_classes)]
    exact = sources.exact_n
    counts = [(exact[c], 0.0) if exact[c] >= 0 else whole[c][:2] for c in range(n_classes)]
    theta = [1.0 if exact[c] >= 0 else whole[c][3] for c in range(n_classes)]
    out = {0: (counts, theta, sum(w[2] for w in whole))}
    open_nodes = [(0, {}, counts)]
    while open_nodes:
        node, allowed, counts = open_nodes.pop()
        if tree.is_leaf[node]:
            continue
        place = int(tree.feature[node])
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist()
        branches = cells_by_branch(tree, node, sources)
        parts = [[None] * n_classes for _ in children]
        for c in range(n_classes):
            rest = counts[c]
            for b in range(len(children) - 1):
                one = count(c, marked(allowed, place, branches[b]))[:2]
                others = count(c, marked(allowed, place, *branches[b + 1 :]))[:2]
                both = conserve(rest, one, others) or _guess(tree, children, b, rest)
                parts[b][c], rest = both
            parts[-1][c] = rest
        for b, child in enumerate(children):
            below = marked(allowed, place, branches[b])
            own = [count(c, below) for c in range(n_classes)]
            out[child] = (parts[b], [o[3] for o in own], sum(o[2] for o in own))
            open_nodes.append((child, below, parts[b]))
    return [out[node] for node in range(tree.node_count)]


def _guess(tree, children, branch, whole):
    weight = tree.weighted_n_node_samples[children]
    s = float(weight[branch] / weight[branch:].sum())
    n, v = whole
    doubt = n * n * s * (1 - s)
    return (n * s, s * s * v + doubt), (n * (1 - s), (1 - s) ** 2 * v + doubt)
