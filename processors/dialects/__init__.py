"""The few grammars a tool call's body may be written in."""
