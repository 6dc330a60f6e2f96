"""`tf.contrib.predictor` of TensorFlow 1.15: a SavedModel in a session of its own, called with arrays."""

from __future__ import annotations

from typing import Any, Optional


class SavedModelPredictor:
    """Feeds the inputs of a signature and gives its outputs."""

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: Optional[str] = None,
        signature_def: Any = None,
        input_names: Any = None,
        output_names: Any = None,
        tags: Any = None,
        graph: Any = None,
        config: Any = None,
    ) -> None:
        import tensorflow as tf

        v1 = tf.compat.v1
        self.graph = graph or v1.Graph()
        with self.graph.as_default():
            self.session = v1.Session(config=config)
            loaded = v1.saved_model.loader.load(self.session, (tags or "serve").split(","), str(export_dir))
        signature = signature_def or loaded.signature_def[signature_def_key or "serving_default"]
        inputs = input_names or {key: info.name for key, info in signature.inputs.items()}
        outputs = output_names or {key: info.name for key, info in signature.outputs.items()}
        self.feed_tensors = {key: self.graph.get_tensor_by_name(name) for key, name in inputs.items()}
        self.fetch_tensors = {key: self.graph.get_tensor_by_name(name) for key, name in outputs.items()}

    def __call__(self, input_dict: Any) -> Any:
        unknown = set(input_dict) - set(self.feed_tensors)
        if unknown:
            raise ValueError(f"Got unexpected keys in input_dict: {unknown}\nexpected: {set(self.feed_tensors)}")
        fed = {self.feed_tensors[key]: value for key, value in input_dict.items()}
        return self.session.run(self.fetch_tensors, feed_dict=fed)
