"""Damaged argument text → arguments that fit the tool's schema, or a refusal that says why."""
