"""What a run leaves behind: batches, variables, checkpoints, summaries, and how they are kept."""
