"""For producers and consumers: tokens in, outputs out. The only package of ours that a user's program needs."""

from streams.client.outputs import OutputConsumer, StepConsumer, Wanted, executable
from streams.client.producer import SyncTokenProducer, TokenProducer
from streams.client.tee import AsyncTee, SyncTee
from streams.client.waiting import Limits

__all__ = [
    "AsyncTee",
    "Limits",
    "OutputConsumer",
    "StepConsumer",
    "SyncTee",
    "SyncTokenProducer",
    "TokenProducer",
    "Wanted",
    "executable",
]
