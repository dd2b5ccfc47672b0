"""Failures → patterns: found, proven, released with care."""
