"""Strategies: what is done differently about a call, when, proven how; and how they fare in use."""
