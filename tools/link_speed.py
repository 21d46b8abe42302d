#!/usr/bin/env python3
"""Measures TCP between two network namespaces, and holds it to the rate of their links.

    tools/link_speed.py FROM TO ADDRESS_OF_TO BITS_PER_SECOND

One connection carries messages of 0.4 MB, which a generous burst would let through too fast, and of
26 MB, which show whether the CPU keeps up. Of each size the median is printed, and must lie within
10 % of the rate; up to three times, since a machine that is busy elsewhere makes a link look slow. The
rate counts every byte on the link; a frame of 1514 bytes carries 1448 of a message, so 95 or 96 % is the
rate itself.
"""

import ctypes
import os
import socket
import statistics
import struct
import sys

SIZES = {"0.4 MB": 400_000, "26 MB": 26_000_000}
TOLERANCE = 0.10
TRIES = 3
# linux/asm-generic/socket.h; Python's module has neither.
SO_TIMESTAMPNS = 35
SO_SNDBUFFORCE = 32


def enter(namespace):
    """Sockets that are made from now on belong to the namespace, wherever they are used."""
    with open(f"/run/netns/{namespace}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"cannot enter {namespace}: {os.strerror(error)}")


def connect(sending, receiving, address):
    """The two ends of one connection: (at the sender, at the receiver)."""
    enter(receiving)
    with socket.create_server((address, 0)) as server:
        enter(sending)
        sender = socket.create_connection(server.getsockname(), timeout=5)
        receiver, _ = server.accept()
    for end in (sender, receiver):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.settimeout(None)
    # Room for a whole small message: the sender sleeps while it has none, and wakes late.
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 16 << 20)
    # When the kernel got the bytes, not when this process woke up to read them.
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return sender, receiver


def time_message(receiver, buffer):
    """Fills the buffer; returns the bytes that came after the first arrival, and in how many ns."""
    got = first = start = now = 0
    while got < len(buffer):
        count, notes, _, _ = receiver.recvmsg_into([buffer[got:]], 64)
        if count == 0:
            raise OSError("the connection has closed")
        seconds, nanoseconds = struct.unpack("qq", notes[0][2])
        now = seconds * 10**9 + nanoseconds
        got += count
        if not first:
            first, start = count, now
    return got - first, now - start


def receive(receiver):
    """Answers to each length with what time_message says of a message of that length."""
    buffer = memoryview(bytearray(b"x" * max(SIZES.values())))
    while header := receiver.recv(8):
        receiver.sendall(b"!")
        (length,) = struct.unpack("q", header)
        receiver.sendall(struct.pack("qq", *time_message(receiver, buffer[:length])))


def send(sender, message):
    """Sends one message and returns the bits per second with which it came in.

    None when most of it had come before the receiver was awake to look: that tells nothing.
    """
    sender.sendall(struct.pack("q", len(message)))
    sender.recv(1)
    sender.sendall(message)
    count, nanoseconds = struct.unpack("qq", sender.recv(16))
    return 8e9 * count / nanoseconds if 2 * count > len(message) else None


def measure(sender, length, rate):
    """The median of some messages: about two seconds of them, but at least 3 and at most 21."""
    message = bytes(length)
    times = round(min(max(2 * rate / (8 * length), 3), 21))
    speeds = [send(sender, message) for _ in range(times)]
    speeds = [speed for speed in speeds if speed is not None]
    if not speeds:
        raise OSError("the machine is too busy to see messages come in")
    return statistics.median(speeds)


def report(sender, rate):
    """Prints a line for each size; false when one is off the rate."""
    send(sender, bytes(SIZES["0.4 MB"]))  # TCP begins slowly.
    good = True
    for name, length in SIZES.items():
        for _ in range(TRIES):
            speed = measure(sender, length, rate)
            off = abs(speed / rate - 1) > TOLERANCE
            if not off:
                break
        verdict = "off by more than 10 %" if off else "ok"
        share = 100 * speed / rate
        print(f"{name}: {speed / 1e6:.1f} Mbit/s, {share:.0f} % of the rate: {verdict}", flush=True)
        good = good and not off
    return good


def main():
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    cores = sorted(os.sched_getaffinity(0))
    sender, receiver = connect(*sys.argv[1:4])
    if os.fork() == 0:
        sender.close()
        os.sched_setaffinity(0, {cores[1 % len(cores)]})
        receive(receiver)
        os._exit(0)
    receiver.close()
    os.sched_setaffinity(0, {cores[0]})
    try:
        good = report(sender, float(sys.argv[4]))
    except OSError as error:
        print(f"tools/link_speed.py: {error}", file=sys.stderr)
        good = False
    sender.close()
    os.wait()
    return 0 if good else 5


if __name__ == "__main__":
    sys.exit(main())
