"""Span: where in a stream's raw text something stands."""

Span = tuple[int, int]
"""`(start, end)`: character offsets into the stream's raw text, half-open."""
