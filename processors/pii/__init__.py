"""Text → places of personal data and secrets in it."""
