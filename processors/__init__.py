"""What is done: token → segment → reason → tool → clean → output, as pure processors of values.

Nothing in here has a client, a clock or a log, and nothing raises on what a model wrote.
"""
