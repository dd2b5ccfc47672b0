"""What `processors.dispatch` is made of: policy, identity, order, bounds, classes of errors."""
