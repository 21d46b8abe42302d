"""What goes wrong, in the words of the command line. Raised by the extension module."""


class Error(Exception):
    """The base of every exception of this package."""


class UsageError(Error, ValueError):
    """Something was asked for that does not exist or does not fit; the message says what would."""


class WireError(Error):
    """Bytes from outside are not what they claim to be."""


class PeerError(Error, ConnectionError):
    """Another rank died, is silent, or disagrees."""


class MachineError(Error, OSError):
    """The machine said no: memory, files, devices."""


for _public in (Error, UsageError, WireError, PeerError, MachineError):
    _public.__module__ = "narrowcast"
