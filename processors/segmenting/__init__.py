"""What the segmenter is made of: the format model, markers as patterns, the automaton, format identification."""
