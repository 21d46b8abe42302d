"""Narrowcast for PyTorch."""

from ..emulation import emulate

__all__ = ["emulate"]
