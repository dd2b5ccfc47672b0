"""Text → personal data and secrets in it, and the text without them.

`find.find_pii`, `redact.redact` and `redact.redact_json`, `stream.StreamRedactor`; the rules are the `*.toml` beside.
"""
