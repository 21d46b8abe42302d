"""Buckets of gradients as float32 in memory of the CPU, and back."""

from __future__ import annotations

from typing import Any, Optional

import torch

from .._errors import UsageError

_TAKEN = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


class Cuda:
    """Every call to CUDA that staging makes: a test puts a recording fake in its place."""

    def stream(self, device: torch.device) -> Any:
        return torch.cuda.Stream(device)

    def current_stream(self, device: torch.device) -> Any:
        return torch.cuda.current_stream(device)

    def on(self, stream: Any) -> Any:
        return torch.cuda.stream(stream)

    def event(self) -> Any:
        return torch.cuda.Event()

    def pinned(self, values: int) -> torch.Tensor:
        return torch.empty(values, dtype=torch.float32, pin_memory=True)

    def future(self, device: torch.device) -> Any:
        return torch.futures.Future(devices=[device])


class Staged:
    """One bucket on its way: `values` are what the exchange works on."""

    def __init__(self, bucket: torch.Tensor, values: torch.Tensor, future: Any) -> None:
        self.bucket = bucket
        self.values = values
        self.future = future

    @property
    def is_here(self) -> bool:
        """Whether the values can be read at once."""
        return True

    def await_values(self) -> None:
        """Blocks until they can."""

    def complete(self) -> None:
        """Sums go back to the bucket, and whoever waits for it goes on."""
        if self.values is not self.bucket:
            self.bucket.copy_(self.values)
        self.future.set_result(self.bucket)


class StagedFromCuda(Staged):
    """Through pinned memory, on a stream of its own. Nothing here waits for the device but
    `await_values`."""

    def __init__(self, bucket: torch.Tensor, values: torch.Tensor, cuda: Any, stream: Any) -> None:
        super().__init__(bucket, values, cuda.future(bucket.device))
        self._cuda = cuda
        self._stream = stream
        self._copied = cuda.event()
        stream.wait_stream(cuda.current_stream(bucket.device))
        with cuda.on(stream):
            values.copy_(bucket, non_blocking=True)
            self._copied.record(stream)

    @property
    def is_here(self) -> bool:
        return False

    def await_values(self) -> None:
        self._copied.synchronize()

    def complete(self) -> None:
        # The future notes what its stream has still to do, and those who wait for it wait for that.
        with self._cuda.on(self._stream):
            self.bucket.copy_(self.values, non_blocking=True)
            self.future.set_result(self.bucket)


class Staging:
    """Stages the buckets of one model; memory is kept from step to step."""

    def __init__(self, cuda: Optional[Any] = None) -> None:
        self._cuda = cuda or Cuda()
        self._streams: dict[Any, Any] = {}
        self._memory: dict[Any, Any] = {}

    def stage(self, index: int, bucket: torch.Tensor) -> Staged:
        if bucket.layout is not torch.strided:
            raise UsageError("sparse gradients cannot be compressed: sparse=False for embeddings")
        if bucket.dtype not in _TAKEN:
            raise UsageError(f"gradients of {bucket.dtype} cannot be compressed")
        if bucket.device.type == "cuda":
            stream = self._streams.get(bucket.device) or self._cuda.stream(bucket.device)
            self._streams[bucket.device] = stream
            return StagedFromCuda(bucket, self._kept(index, bucket, self._cuda.pinned), self._cuda, stream)
        if bucket.device.type != "cpu":
            raise UsageError(f"gradients on device {bucket.device} cannot be compressed: CPU or CUDA")
        future = torch.futures.Future()
        if bucket.dtype == torch.float32:
            return Staged(bucket, bucket, future)
        values = self._kept(index, bucket, lambda count: torch.empty(count, dtype=torch.float32))
        values.copy_(bucket)
        return Staged(bucket, values, future)

    def _kept(self, index: int, bucket: torch.Tensor, make: Any) -> torch.Tensor:
        kept = self._memory.get(index)
        if kept is None or kept.numel() != bucket.numel():
            kept = self._memory[index] = make(bucket.numel())
        return kept
