"""Fixtures that stand for programs as real repositories have them, with 150 to 500 lines each."""

PROGRAMS = (
    "ctr/fm",
    "ctr/deepfm",  # tables partitioned over parameter servers, TFRecords
    "ctr/dcn",
    "ctr/din",  # attention, sparse lookups
    "ctr/esmm",  # two tasks
    "bert/pairs",  # AdamWeightDecay, warm-up
    "text/cnn",
    "recurrent/tagger",  # LSTM
    "images/resnet",  # weight decay, piecewise rates
    "images/gan",  # two optimizers
)
STEPS = 50
"""How many losses at least the parity of each compares."""
