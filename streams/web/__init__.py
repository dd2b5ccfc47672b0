"""The page for people: runs, steps, failures, patterns and dashboards over a read-only store."""
