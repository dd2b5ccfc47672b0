"""Reasoning text → typed steps, links and gaps."""
