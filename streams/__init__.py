"""Where it runs: workers, engines, registry, sink, command line."""
