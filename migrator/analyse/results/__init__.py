"""What a model gives: outputs, metrics, exports, losses in collections, summaries."""
