"""The tools of a stream: their names, their index, what a call's arguments are by their schema."""
