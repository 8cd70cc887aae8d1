"""What a fitted tree can be turned into.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from thetatree import CARTClassifier, export
>>> iris = load_iris(as_frame=True)
>>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
>>> print(export.to_text(model))
classification tree by gini: 3 leaves, depth 2, 150 rows
all (n = 150): setosa 33%
├─ petal length (cm) ≤ 2.45 (n = 50): setosa 100%
└─ petal length (cm) > 2.45 (n = 100): versicolor 50%
   ├─ petal width (cm) ≤ 1.75 (n = 54): versicolor 91%
   └─ petal width (cm) > 1.75 (n = 46): virginica 98%
"""

from thetatree.export.c import to_c
from thetatree.export.dot import to_dot
from thetatree.export.java import to_java
from thetatree.export.json_document import to_json
from thetatree.export.onnx_graph import to_onnx
from thetatree.export.python import to_python
from thetatree.export.sklearn_tree import to_sklearn
from thetatree.export.sql import to_sql
from thetatree.export.text import to_text

__all__ = ["to_c", "to_dot", "to_java", "to_json", "to_onnx", "to_python", "to_sklearn", "to_sql", "to_text"]
