"""What `processors.retrospect` is made of: cases, contracts, deviations from them, and what is done about one."""
