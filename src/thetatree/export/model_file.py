"""Model files: JSON, versioned, checksummed, validated on load.

The file is one JSON object: `format`, `version`, `checksum` (SHA-256 of the canonical JSON of `model`) and
`model`: the estimator's class and parameters, the classes, the features and the tree's arrays. Numbers are
written so that they read back the same; NaN and infinities are text. Nothing in a file is executed, and no
type is built but those named here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thetatree.data.features import Feature
from thetatree.export.validate import check_tree_arrays
from thetatree.files import write_whole
from thetatree.split.criteria import CLASSIFICATION, REGRESSION
from thetatree.tree.tree import Tree

FORMAT = "thetatree-model"
VERSION = 1

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# Types of class labels. numpy evaluates other texts that are given for a type; a long one takes its memory.
_CLASS_TYPE = re.compile(r"[|<>=]?(b1|[iu][1248]|f[248]|O|U\d{1,4})")
_MODEL = b',"model":'  # what stands before the model in a file that `save_model` wrote


def _estimators() -> dict[str, Any]:
    from thetatree.learn.aid import AIDRegressor
    from thetatree.learn.c45 import C45Classifier
    from thetatree.learn.cart import CARTClassifier, CARTRegressor
    from thetatree.learn.thaid import THAIDClassifier
    from thetatree.learn.theta import ThetaSketchDecisionTreeClassifier

    known = (
        AIDRegressor,
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        THAIDClassifier,
        ThetaSketchDecisionTreeClassifier,
    )
    return {cls.__name__: cls for cls in known}


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a file, which appears whole or not at all."""
    check_is_fitted(model, "tree_")
    body = _canonical(_encode_model(model))
    envelope = json.dumps(
        {"format": FORMAT, "version": VERSION, "checksum": hashlib.sha256(body).hexdigest()},
        separators=(",", ":"),
    )
    write_whole(Path(path), envelope[:-1].encode() + _MODEL + body + b"}")


def load_model(path: str | Path) -> Any:
    """Read a fitted estimator from a file that `save_model` wrote.

    Raises
    ------
    ValueError
        The file is not a model, is of a newer version, was changed, or holds a tree that cannot be.
    """
    return read_model(Path(path).read_bytes(), str(path))


def read_model(data: bytes, path: str) -> Any:
    """Read a fitted estimator from a file's bytes; the path is for what is said of it."""
    try:
        document = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a thetatree model: it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path} is not a thetatree model: its format is not {FORMAT!r}")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"{path} has no valid version: {version!r}")
    if version > VERSION:
        raise ValueError(
            f"{path} is of version {version}, this thetatree reads up to {VERSION}: update thetatree"
        )
    body = document.get("model")
    if not isinstance(body, dict) or not _is_sealed(data, body, document.get("checksum")):
        raise ValueError(f"{path} was changed or damaged since it was saved: its checksum does not match")
    try:
        return _decode_model(body)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path} does not hold a valid model: {error}") from None


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _canonical(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def _is_sealed(data: bytes, body: dict[str, Any], checksum: Any) -> bool:
    """Whether the checksum is the model's: as it stands in the file, or written again from any layout."""
    at = data.find(_MODEL) + len(_MODEL)
    as_it_stands = hashlib.sha256(memoryview(data)[at:-1]).hexdigest()
    return bool(checksum == as_it_stands or checksum == hashlib.sha256(_canonical(body)).hexdigest())


def _encode_model(model: Any) -> dict[str, Any]:
    name = type(model).__name__
    if name not in _estimators():
        raise ValueError(f"a {name} cannot be saved: known are {', '.join(_estimators())}")
    tree: Tree = model.tree_
    return {
        "estimator": name,
        "parameters": {key: _encode(value, key) for key, value in model.get_params(deep=False).items()},
        "criterion": tree.criterion,
        "classes": None if tree.classes is None else _encode_classes(model.classes_),
        "named": hasattr(model, "feature_names_in_"),
        "features": [_encode_feature(f) for f in tree.features],
        "extras": model.model_extras(),
        "tree": {key: _encode_array(array) for key, array in tree.arrays().items()},
    }


def _encode_feature(feature: Feature) -> dict[str, Any]:
    labels = [_encode(label, feature.name) for label in feature.labels]
    item = {"name": feature.name, "kind": feature.kind, "labels": labels, "gaps": feature.gaps}
    return item | {"unlisted": True} if feature.unlisted else item


def _encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    return {"dtype": classes.dtype.str, "labels": [_encode(label, "classes") for label in classes.tolist()]}


def _encode_array(array: NDArray[Any]) -> list[Any]:
    items = array.ravel().tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [x if math.isfinite(x) else str(x) for x in items]
    return list(items)


def _encode(value: Any, name: str) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        return _encode(value.item(), name)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.random.RandomState):
        return None  # a generator's state is not part of a model
    if isinstance(value, dict):
        return {"items": [[_encode(k, name), _encode(v, name)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, np.ndarray)):
        return {"list": [_encode(v, name) for v in list(value)]}
    raise ValueError(f"{name}={value!r} of type {type(value).__name__} cannot be written to JSON")


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return _SPECIAL[value["float"]]
    if "items" in value:
        return {_decode(k): _decode(v) for k, v in value["items"]}
    return [_decode(v) for v in value["list"]]


def _decode_model(body: dict[str, Any]) -> Any:
    estimators = _estimators()
    if body["estimator"] not in estimators:
        raise ValueError(f"unknown estimator {body['estimator']!r}")
    parameters = {str(key): _decode(value) for key, value in body["parameters"].items()}
    model = estimators[body["estimator"]](**parameters)
    features = tuple(_decode_feature(f) for f in body["features"])
    classes = None if body["classes"] is None else _decode_classes(body["classes"])
    if (classes is None) != (not hasattr(model, "predict_proba")):
        raise ValueError("classes do not fit the estimator")
    labels = None if classes is None else tuple(classes.tolist())
    arrays = {str(key): _decode_array(items) for key, items in body["tree"].items()}
    check_tree_arrays(arrays, features, 1 if labels is None else len(labels))
    if body["criterion"] not in (REGRESSION if labels is None else CLASSIFICATION):
        raise ValueError(f"unknown criterion {body['criterion']!r}")
    model.tree_ = Tree.from_arrays(arrays, features, labels, str(body["criterion"]))
    if classes is not None:
        model.classes_ = classes
        model.n_classes_ = len(classes)
    model.n_outputs_ = 1
    model.n_features_in_ = len(features)
    if body["named"]:
        model.feature_names_in_ = np.array([f.name for f in features], dtype=object)
    model.restore_extras(body.get("extras", {}))
    return model


def _decode_feature(item: dict[str, Any]) -> Feature:
    if item["kind"] not in ("flag", "number", "category"):
        raise ValueError(f"unknown kind {item['kind']!r} of feature {item['name']!r}")
    labels = tuple(_decode(label) for label in item["labels"])
    if not all(isinstance(label, (str, int, float, bool)) for label in labels):
        raise ValueError(f"feature {item['name']!r} has a label that is no text and no number")
    gaps, unlisted = item["gaps"] is True, item.get("unlisted") is True
    if not isinstance(item["name"], str):
        raise ValueError(f"a feature's name is text, not {item['name']!r}")
    if len({(isinstance(label, str), label) for label in labels}) < len(labels):
        raise ValueError(f"feature {item['name']!r} has a label twice")
    return Feature(item["name"], item["kind"], labels, gaps, unlisted)


def _decode_classes(item: dict[str, Any]) -> NDArray[Any]:
    labels = [_decode(label) for label in item["labels"]]
    name = item["dtype"]
    if not isinstance(name, str) or not _CLASS_TYPE.fullmatch(name):
        raise ValueError(f"class labels of type {name!r} are not read")
    if not all(isinstance(v, (str, int, float, bool)) for v in labels):
        raise ValueError("a class label is no text and no number")
    dtype = np.dtype(name)
    classes = np.array(labels, dtype=dtype)
    if classes.tolist() != labels or len(set(labels)) < len(labels):
        raise ValueError(f"class labels {labels[:10]} are not of type {dtype}, or one is there twice")
    return classes


def _decode_array(items: Any) -> NDArray[Any]:
    if not isinstance(items, list):
        raise ValueError("an array of the tree is not a list")
    types = set(map(type, items))
    if not types <= {int, float, str}:
        raise ValueError("an array of the tree does not hold numbers")
    if str in types:
        items = [_SPECIAL[x] if type(x) is str else x for x in items]
    array = np.array(items if items else np.empty(0))
    if array.dtype.kind not in "iuf":
        raise ValueError("an array of the tree holds a number that is too large")
    return array
