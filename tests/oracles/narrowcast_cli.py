"""The program under test, seen from outside: raw float32 in, frames out (docs/wire.md)."""

import struct
import subprocess
from dataclasses import dataclass

import numpy as np
import xxhash

MAGIC = b"\x8eNCF\r\n\x1a\n"
HEADER = struct.Struct("<8sHHIQQ")
CHECKSUM = struct.Struct("<Q")
USAGE, WIRE = 2, 3


class Refused(Exception):
    """The program ended with an exit code other than 0."""

    def __init__(self, code, message, written):
        super().__init__(message)
        self.code = code
        self.written = written


@dataclass
class Frame:
    spec: str
    count: int
    payload: bytes

    @staticmethod
    def parse(raw):
        magic, version, spec_bytes, reserved, count, payload_bytes = HEADER.unpack_from(raw)
        assert (magic, version, reserved) == (MAGIC, 1, 0)
        spec_end = HEADER.size + spec_bytes
        payload_end = spec_end + payload_bytes
        assert len(raw) == payload_end + CHECKSUM.size
        (checksum,) = CHECKSUM.unpack_from(raw, payload_end)
        assert checksum == xxhash.xxh3_64_intdigest(raw[:payload_end])
        return Frame(raw[HEADER.size : spec_end].decode(), count, raw[spec_end:payload_end])

    def raw(self):
        spec = self.spec.encode()
        body = HEADER.pack(MAGIC, 1, len(spec), 0, self.count, len(self.payload))
        body += spec + bytes(self.payload)
        return body + CHECKSUM.pack(xxhash.xxh3_64_intdigest(body))


class Program:
    def __init__(self, path):
        self.path = path

    def run(self, *words, stdin=b""):
        done = subprocess.run([self.path, *words], input=stdin, capture_output=True, check=False)
        if done.returncode != 0:
            raise Refused(done.returncode, done.stderr.decode(), done.stdout)
        return done.stdout

    def encode(self, spec, values, seed=0):
        values = np.ascontiguousarray(values, dtype="<f4")
        return Frame.parse(self.run("encode", spec, "--seed", str(seed), stdin=values.tobytes()))

    def decode(self, frame):
        return np.frombuffer(self.run("decode", stdin=frame.raw()), dtype="<f4")

    def round_trip(self, spec, values, seed=0):
        return self.decode(self.encode(spec, values, seed))

    def canonical(self, spec):
        return self.encode(spec, np.zeros(0)).spec
