"""`python -m streams` = the console script `hermes-streams`."""

from streams.cli.app import main

if __name__ == "__main__":
    main()
