"""What is said: every event on every topic, as a frozen value with a literal `schema` tag."""
