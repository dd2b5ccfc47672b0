"""What a person said about time → dates, or the word that nothing is settled."""
