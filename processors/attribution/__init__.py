"""What `processors.attribute` is made of: signs in an error, health of tools, the tree of causes."""
