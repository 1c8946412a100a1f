"""A worker: what engines hold on each machine. As a program, it works for the process that has started it."""

from __future__ import annotations

from rankwise import _rankwise


class Worker:
    """A class of Python that Ray and Dask can make actors of."""

    def __init__(self) -> None:
        self._worker = _rankwise.Worker()

    def reply(self, message: bytes) -> bytes:
        """The reply to a message of the driver, within a few seconds."""
        return self._worker.reply(message)


if __name__ == "__main__":
    _rankwise.serve_worker()
