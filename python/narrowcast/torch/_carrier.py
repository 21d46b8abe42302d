"""Carries the frames of a transport over a Gloo process group of torch."""

from __future__ import annotations

import datetime
import threading
import time
from collections import deque
from typing import Any

import torch

from .. import _core

# Gloo closes all connections when one of its waits runs out of time. None of ours ever does: the
# transport finds out who is silent.
_FOREVER = datetime.timedelta(days=365)
_TURN_MICROSECONDS = 100
_TAG = 0x6E63  # of all frames; those of one pair of ranks are matched by their order


def take_short_turns() -> None:
    """This thread, and those that it starts, come to their turn at once when they wake up, also while
    others compute."""
    _core.set_turn(_TURN_MICROSECONDS)


class Carrier:
    """Two threads for each peer: one takes frames there, one brings frames from there."""

    def __init__(self, net: Any, group: Any) -> None:
        self._net = net
        self._group = group
        self._posted: list[Any] = []  # what Gloo writes to, for as long as it may
        peers = [peer for peer in range(net.size) if peer != net.rank]
        self._senders = [self._thread(self._send, peer) for peer in peers]
        self._receivers = [self._thread(self._receive, peer) for peer in peers]
        for thread in self._senders + self._receivers:
            thread.start()

    def join(self, seconds: float) -> bool:
        """Waits for the threads to end, after the transport has left. Says whether they have."""
        until = time.monotonic() + seconds
        threads = self._senders + self._receivers
        for thread in threads:
            # One of them may be here itself: Python drops what nobody holds on any thread.
            if thread is not threading.current_thread():
                thread.join(max(until - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in threads)

    @staticmethod
    def _thread(run: Any, peer: int) -> threading.Thread:
        return threading.Thread(target=run, args=(peer,), daemon=True, name=f"narrowcast-{peer}")

    def _send(self, peer: int) -> None:
        take_short_turns()
        net, group = self._net, self._group
        while (load := net.next(peer)) is not None:
            number, frame = load
            try:
                group.send([frame], peer, _TAG).wait(_FOREVER)
            except RuntimeError as error:
                net.lost(peer, _first_line(error))
                return
            net.carried(peer, number)

    def _receive(self, peer: int) -> None:
        take_short_turns()
        net = self._net
        posted: deque[Any] = deque()
        self._posted.append(posted)
        try:
            for _ in range(net.frames_ahead):
                self._post(posted, peer, torch.empty(net.longest_frame, dtype=torch.uint8))
            while True:
                work, frame = posted[0]
                work.wait(_FOREVER)
                posted.popleft()
                if not net.deliver(peer, frame):
                    return
                self._post(posted, peer, frame)
        except RuntimeError as error:
            net.lost(peer, _first_line(error))

    def _post(self, posted: deque[Any], peer: int, frame: torch.Tensor) -> None:
        posted.append((self._group.recv([frame], peer, _TAG), frame))


def _first_line(error: Exception) -> str:
    """Gloo's words without the place in its source, and without good wishes."""
    text = str(error).split("\n", 1)[0]
    text = text.split("] ", 1)[1] if text.startswith("[") and "] " in text else text
    return text.split(". ", 1)[0]
