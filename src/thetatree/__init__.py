"""Decision trees grown from rows and from theta sketches."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> where it lives ("module:" is the module itself). Nothing is imported until it is used, so that
# importing thetatree costs little.
_PUBLIC = {
    "AIDRegressor": "thetatree.learn.aid:AIDRegressor",
    "C45Classifier": "thetatree.learn.c45:C45Classifier",
    "CARTClassifier": "thetatree.learn.cart:CARTClassifier",
    "CARTRegressor": "thetatree.learn.cart:CARTRegressor",
    "SketchSet": "thetatree.sketch.sketch_set:SketchSet",
    "THAIDClassifier": "thetatree.learn.thaid:THAIDClassifier",
    "ThetaSketchDecisionTreeClassifier": "thetatree.learn.theta:ThetaSketchDecisionTreeClassifier",
    "Tree": "thetatree.tree.tree:Tree",
    "candidates": "thetatree.learn.candidates:candidates",
    "load": "thetatree.export.model_file:load_model",
    "criteria": "thetatree.split.criteria:",
    "engine": "thetatree.engine:",
    "export": "thetatree.export:",
    "judge": "thetatree.judge:",
    "plot": "thetatree.report.plots:",
    "sketch": "thetatree.sketch:",
}

__all__ = [
    "AIDRegressor",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "SketchSet",
    "THAIDClassifier",
    "ThetaSketchDecisionTreeClassifier",
    "Tree",
    "__version__",
    "candidates",
    "criteria",
    "engine",
    "export",
    "judge",
    "load",
    "plot",
    "sketch",
]

if TYPE_CHECKING:
    from thetatree import export, judge
    from thetatree.export.model_file import load_model as load
    from thetatree.learn.aid import AIDRegressor
    from thetatree.learn.c45 import C45Classifier
    from thetatree.learn.candidates import candidates
    from thetatree.learn.cart import CARTClassifier, CARTRegressor
    from thetatree.learn.thaid import THAIDClassifier
    from thetatree.learn.theta import ThetaSketchDecisionTreeClassifier
    from thetatree.report import plots as plot
    from thetatree.sketch.build import sketch
    from thetatree.sketch.sketch_set import SketchSet
    from thetatree.split import criteria
    from thetatree.tree.tree import Tree


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'thetatree' has no attribute {name!r}")
    module_name, _, attribute = _PUBLIC[name].partition(":")
    module = importlib.import_module(module_name)
    value = getattr(module, attribute) if attribute else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
