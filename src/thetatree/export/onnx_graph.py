"""The tree as an ONNX model, in float64 throughout.

The graph: labels of text become codes (LabelEncoder), the tree finds the leaf (TreeEnsemble of ai.onnx.ml 5,
whose sets of categories are BRANCH_MEMBER), and tables give what the leaf says (Gather).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree.export.view import Test, View

if TYPE_CHECKING:
    import onnx

_LEQ, _EQ, _NEQ, _MEMBER = 0, 4, 5, 6  # the modes of TreeEnsemble's tests that are used here
_MISSING = -1  # the code of a missing label of text
_DEEPEST = 1000


def to_onnx(model: Any) -> onnx.ModelProto:
    """Return an ONNX model with one input for each column that the tree tests.

    Inputs are of shape (rows, 1) and named as the columns: numbers and flags are doubles (flags 1 and 0) with
    NaN where missing; categories are strings, the empty one missing unless it is a label, or doubles where
    their labels are numbers. Outputs are ``leaf``, and ``label`` and ``probabilities`` or ``value``. float32
    data is exact as well, cast to double. Needs onnx (``pip install 'thetatree[onnx]'``) and, to run, a
    runtime with ai.onnx.ml 5.

    Parameters
    ----------
    model : estimator or Tree
        What to write.

    Examples
    --------
    >>> import numpy as np, onnxruntime
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> session = onnxruntime.InferenceSession(export.to_onnx(model).SerializeToString())
    >>> session.run(["value"], {"x0": np.array([[1.5], [3.5]])})[0].tolist()
    [5.0, 9.0]
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'thetatree[onnx]'") from error
    return _Writer(View(model)).model()


@dataclass
class _Nodes:
    """TreeEnsemble's nodes, one list an attribute."""

    feature: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    true: list[int] = field(default_factory=list)
    true_leaf: list[int] = field(default_factory=list)
    false: list[int] = field(default_factory=list)
    false_leaf: list[int] = field(default_factory=list)
    nan_true: list[int] = field(default_factory=list)
    members: list[float] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)

    def add(self, feature: int, test: _Binary, depth: int) -> int:
        """Add a node whose children are not known yet; return its number."""
        self.feature.append(feature)
        self.mode.append(test.mode)
        self.split.append(test.value)
        self.nan_true.append(int(test.nan))
        self.depth.append(depth)
        if test.mode == _MEMBER:
            self.members += [*test.members, math.nan]
        for ends in (self.true, self.false, self.true_leaf, self.false_leaf):
            ends.append(0)
        return len(self.mode) - 1


@dataclass(frozen=True)
class _Binary:
    """A test as TreeEnsemble knows it; `swapped`: a row takes the branch where it fails."""

    mode: int
    value: float
    nan: bool
    swapped: bool = False
    members: tuple[float, ...] = ()


class _Writer:
    def __init__(self, view: View) -> None:
        if view.tree.fractional:
            raise ValueError(
                "the tree parts rows with a missing value among all branches (missing='fractional'), but a "
                "model of ONNX sends a row to one leaf and cannot say that there is none: use to_sql, "
                "to_python, to_c or to_java"
            )
        self._view = view
        self._inputs = view.tested or [0]
        self._values = {index: self._label_values(index) for index in self._inputs}
        self._initializers: list[Any] = []
        self._operators: list[Any] = []

    def _label_values(self, index: int) -> list[float] | None:
        """Return what a category's labels are compared as; None where they are texts, which become codes."""
        feature = self._view.feature(index)
        texts = [isinstance(label, str) for label in feature.labels]
        if feature.kind != "category" or all(texts):
            return None
        if any(texts):
            both = f"{feature.labels[texts.index(True)]!r} and {feature.labels[texts.index(False)]!r}"
            raise ValueError(
                f"column {feature.name!r} has texts and numbers among its labels ({both}), but an input of "
                f"ONNX is of one type: make them all text before fitting"
            )
        values = [float(label) for label in feature.labels]
        for value, label in zip(values, feature.labels, strict=True):
            if value != label:
                raise ValueError(f"column {feature.name!r} has the label {label!r}, which is no float64")
        return values

    def model(self) -> onnx.ModelProto:
        """Return the whole model."""
        from onnx import TensorProto, helper

        inputs, names = [], []
        for index in self._inputs:
            feature = self._view.feature(index)
            if not feature.name:
                raise ValueError("ONNX has no inputs without a name: name the columns before fitting")
            text = feature.kind == "category" and self._values[index] is None
            kind = TensorProto.STRING if text else TensorProto.DOUBLE
            inputs.append(helper.make_tensor_value_info(feature.name, kind, ["rows", 1]))
            names.append(self._coded(index) if text else feature.name)
        self._operate("Concat", names, "tree:row", axis=1)
        self._ensemble()
        self._operate("Cast", ["tree:found"], "tree:whole", to=TensorProto.INT64)
        self._operate("Reshape", ["tree:whole", self._constant("flat", np.array([-1]))], "tree:leaf")
        graph = helper.make_graph(self._operators, "tree", inputs, self._outputs(), self._initializers)
        operators = [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("", 21)]
        return helper.make_model(graph, opset_imports=operators, ir_version=10, producer_name="thetatree")

    # ---- pieces

    def _operate(
        self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any
    ) -> None:
        from onnx import helper

        self._operators.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._initializers.append(numpy_helper.from_array(values, f"tree:{name}"))
        return f"tree:{name}"

    def _coded(self, index: int) -> str:
        """Turn a column of texts into codes."""
        from onnx import TensorProto

        labels = [str(label) for label in self._view.feature(index).labels]
        codes = list(range(len(labels)))
        if "" not in labels:
            labels, codes = [*labels, ""], [*codes, _MISSING]
        unseen = self._view.unseen_code(index)
        self._operate(
            "LabelEncoder",
            [self._view.feature(index).name],
            f"tree:code{index}",
            "ai.onnx.ml",
            keys_strings=labels,
            values_int64s=codes,
            default_int64=_MISSING if unseen < 0 else unseen,
        )
        self._operate("Cast", [f"tree:code{index}"], f"tree:number{index}", to=TensorProto.DOUBLE)
        return f"tree:number{index}"

    def _outputs(self) -> list[Any]:
        from onnx import TensorProto, helper

        view = self._view
        tree = view.tree
        leaves = np.array(view.leaves, dtype=np.int64)
        out: list[tuple[str, NDArray[Any], int, list[Any]]] = [("leaf", leaves, TensorProto.INT64, ["rows"])]
        if tree.classes is None:
            out.append(("value", tree.values[leaves, 0], TensorProto.DOUBLE, ["rows"]))
        else:
            labels = np.array(tree.classes, dtype=object)
            kinds = {type(label) for label in tree.classes}
            kind: int = TensorProto.STRING
            for own, dtype, onnx_kind in (
                (bool, np.bool_, TensorProto.BOOL),
                (int, np.int64, TensorProto.INT64),
                (float, np.float64, TensorProto.DOUBLE),
            ):
                if kinds == {own}:
                    labels, kind = np.array(tree.classes, dtype=dtype), onnx_kind
            if kind == TensorProto.STRING and kinds != {str}:
                raise ValueError(f"classes {list(tree.classes)} are of several types, an output of one")
            out.append(("label", labels[view.chosen[leaves]], kind, ["rows"]))
            out.append(
                ("probabilities", tree.values[leaves], TensorProto.DOUBLE, ["rows", len(tree.classes)])
            )
        infos = []
        for name, table, kind, shape in out:
            self._operate("Gather", [self._constant(f"{name}s", table), "tree:leaf"], name, axis=0)
            infos.append(helper.make_tensor_value_info(name, kind, shape))
        return infos

    # ---- the tree

    def _ensemble(self) -> None:
        from onnx import numpy_helper

        nodes = self._nodes()
        deepest = max(nodes.depth)
        if deepest > _DEEPEST:
            raise ValueError(
                f"the tree is {deepest:,} tests deep, but runtimes of ONNX read trees by recursion and crash "
                f"on such: the limit is {_DEEPEST:,}; use to_c or to_sql, or prune"
            )
        n_leaves = len(self._view.leaves)
        members = {}
        if nodes.members:
            members["membership_values"] = numpy_helper.from_array(np.array(nodes.members), "members")
        self._operate(
            "TreeEnsemble",
            ["tree:row"],
            "tree:found",
            "ai.onnx.ml",
            nodes_featureids=nodes.feature,
            nodes_modes=numpy_helper.from_array(np.array(nodes.mode, dtype=np.uint8), "modes"),
            nodes_splits=numpy_helper.from_array(np.array(nodes.split), "splits"),
            nodes_truenodeids=nodes.true,
            nodes_trueleafs=nodes.true_leaf,
            nodes_falsenodeids=nodes.false,
            nodes_falseleafs=nodes.false_leaf,
            nodes_missing_value_tracks_true=nodes.nan_true,
            leaf_targetids=[0] * n_leaves,
            leaf_weights=numpy_helper.from_array(np.arange(n_leaves, dtype=np.float64), "weights"),
            tree_roots=[0],
            n_targets=1,
            aggregate_function=1,
            post_transform=0,
            **members,
        )

    def _nodes(self) -> _Nodes:
        """Write each node as a chain of two-way tests: one a branch, the last branch being what is left."""
        view = self._view
        place = {feature: i for i, feature in enumerate(self._inputs)}
        leaf = {node: i for i, node in enumerate(view.leaves)}
        out = _Nodes()
        if view.tree.node_count == 1:
            out.add(0, _Binary(_LEQ, math.inf, nan=True), 1)
            out.true_leaf[0] = out.false_leaf[0] = 1
            return out
        waiting: list[tuple[int, int, bool]] = [(0, -1, True)]  # node, what leads there, by its true end
        while waiting:
            node, above, by_true = waiting.pop()
            below = view.children(node)
            if not below:
                _link(out, above, by_true, leaf[node], is_leaf=True)
                continue
            feature = int(view.tree.feature[node])
            for branch, child in enumerate(below[:-1]):
                test = self._binary(view.test(node, branch))
                number = out.add(place[feature], test, out.depth[above] + 1 if above >= 0 else 1)
                if above >= 0:
                    _link(out, above, by_true, number, is_leaf=False)
                waiting.append((child, number, not test.swapped))
                above, by_true = number, test.swapped
            waiting.append((below[-1], above, by_true))
        return out

    def _binary(self, test: Test) -> _Binary:
        kind, values = self._view.feature(test.feature).kind, self._values[test.feature]
        if test.kind in ("any", "none"):
            return self._known(test, kind == "category" and values is None, kind == "flag")
        if test.kind in ("le", "gt"):
            swapped = test.kind == "gt"
            return _Binary(_LEQ, test.threshold, nan=test.missing != swapped, swapped=swapped)
        if test.kind in ("true", "false"):
            wanted = float(test.kind == "true")
            return _Binary(_NEQ, 1 - wanted, nan=True) if test.missing else _Binary(_EQ, wanted, nan=False)
        swapped = test.kind == "not in"
        members = [float(code) if values is None else values[code] for code in test.codes]
        if values is None and test.missing != swapped:
            members.append(float(_MISSING))
        return _Binary(_MEMBER, 0.0, nan=test.missing != swapped, swapped=swapped, members=tuple(members))

    @staticmethod
    def _known(test: Test, text: bool, flag: bool) -> _Binary:
        """A test that asks no more than whether the value is known; what is known is below infinity."""
        some, missing = test.kind == "any", test.missing
        if some == missing or not (text or flag):
            return _Binary(_LEQ, math.inf if some else -math.inf, nan=missing)
        if text:
            return _Binary(_NEQ if some else _EQ, float(_MISSING), nan=missing)
        return _Binary(_MEMBER, 0.0, nan=False, swapped=not some, members=(0.0, 1.0))


def _link(nodes: _Nodes, above: int, by_true: bool, to: int, *, is_leaf: bool) -> None:
    (nodes.true if by_true else nodes.false)[above] = to
    (nodes.true_leaf if by_true else nodes.false_leaf)[above] = int(is_leaf)
