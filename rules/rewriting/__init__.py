"""Works out all edits of one program."""
