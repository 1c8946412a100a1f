"""Tasks of an engine, one for each shard."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rankwise._engines import Waiting

_log = logging.getLogger("rankwise")

# How often the task of a shard may be lost.
_LOSSES = 3

# How long to wait before looking at the time, in seconds.
_STEP = 0.5


def gathered(
    waiting: Waiting,
    shards: Sequence[str],
    futures: Iterable[Any],
    start: Callable[[str], Any],
    is_loss: Callable[[Exception], bool],
) -> list[Any]:
    """The results of all shards, in their order.

    Args:
        waiting: What the futures are added to.
        shards: The names of the shards.
        futures: The tasks, one for each shard.
        start: Starts the task of a shard again that was lost.
        is_loss: Whether an error of a future means that its task was lost.
    """
    for number, (shard, future) in enumerate(zip(shards, futures)):
        waiting.add(number, shard, future)
    results: list[Any] = [None] * len(shards)
    losses = [0] * len(shards)
    while waiting:
        ended = waiting.next(_STEP)
        if ended is None:
            continue
        number, future = ended
        try:
            results[number] = future.result(waiting.limit)
        except Exception as error:
            if not is_loss(error):
                raise
            losses[number] += 1
            reason = f"{type(error).__name__}: {error}"
            if losses[number] == _LOSSES:
                raise RuntimeError(
                    f"the task for {shards[number]} was lost {_LOSSES} times; the last time, {reason}"
                ) from error
            _log.warning("the task for %s was lost, and is started again: %s", shards[number], reason)
            waiting.add(number, shards[number], start(shards[number]))
    return results
