"""What docs/security.md says of whole jobs: keys stay in their files, and no shell reads what users wrote.

    jobs_test.py PROGRAM MODULES
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MODULES = sys.argv[1:3]
KEY = bytes(range(0xC0, 0xE0))
QUICK = ["-b", "1K", "-e", "1K", "-n", "1", "-w", "1", "--json"]
DEADLINE = 120  # seconds: a hang becomes a failure
HAS_GLOO = pathlib.Path(MODULES, "narrowcast_gloo.so").exists()
HAS_TRAIN = pathlib.Path(MODULES, "narrowcast_train.so").exists()

# Does what ssh does with its words, without going anywhere, and writes down what others could have seen: of its own
# process, and of the one that it becomes there.
AGENT = """#!/bin/sh
cat "/proc/$$/cmdline" "/proc/$$/environ" >> "$0.seen"
shift
cd / && eval "exec env -i PATH=$PATH $*"
"""


def run(*words, env=None, folder=None):
    plain = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    return subprocess.run(
        [PROGRAM, *words], env=plain | (env or {}), cwd=folder, capture_output=True, timeout=DEADLINE
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_for(condition):
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)  # nothing tells when a socket changes its state
    return False


def sockets_of(pid, state):
    """Local ports of the process's TCP sockets that are in this state of /proc/net/tcp."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(entry))
        except OSError:  # closed meanwhile
            continue
    ports = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == state and f"socket:[{words[9]}]" in inodes:
                ports.append(int(words[1].rsplit(":", 1)[1], 16))
    return ports


def ports_of(pid):
    return sockets_of(pid, "0A")  # listening


def connections_of(pid):
    return sockets_of(pid, "01")  # established


class Job(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        self.trap = self.folder / "trap"  # the file that a shell would make
        self.agent = self.write("agent", AGENT, 0o755)
        self.key = self.write("key", KEY.hex(), 0o600)
        self.variables = {
            "NARROWCAST_RSH": str(self.agent),
            "NARROWCAST_PORT": free_port(),
            "NARROWCAST_MODULES": MODULES,
            "GLOO_SOCKET_IFNAME": "lo",
        }

    def write(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def expect_no_key(self, *texts):
        for text in texts:
            self.assertNotIn(KEY, text)
            self.assertNotIn(KEY.hex().encode(), text.lower())

    def expect_untouched(self):
        self.assertFalse(self.trap.exists(), "a shell has read what a user wrote")

    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_shows_its_key_to_nobody(self):
        self.write("hosts", "127.0.0.1\nlocalhost\n")
        done = run("bench", "allreduce", "--hosts", "hosts", "--key-file", "key", *QUICK, env=self.variables,
                   folder=self.folder)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(b'"sealing":"key"', done.stdout)
        seen = pathlib.Path(f"{self.agent}.seen").read_bytes()
        self.assertIn(b"--key-file", seen)
        self.expect_no_key(done.stdout, done.stderr, seen)

    def test_shows_its_key_in_no_listing_and_in_no_error(self):
        key = {"NARROWCAST_KEY_FILE": str(self.key)}
        for words in (["doctor", "--json"], ["codecs", "--json"], ["bench", "allreduce", *QUICK]):
            done = run(*words, env=key)
            self.assertEqual(0, done.returncode, done.stderr)
            self.expect_no_key(done.stdout, done.stderr)
        self.key.chmod(0o644)
        done = run("bench", "allreduce", *QUICK, env=key)
        self.assertEqual(2, done.returncode)
        self.expect_no_key(done.stderr)
        done = run("bench", "allreduce", "--key-file", KEY.hex(), *QUICK)
        self.assertEqual(2, done.returncode)
        self.assertIn(b"the job key itself", done.stderr)
        self.expect_no_key(done.stderr)

    # Names of files, values and names of variables: each a line that a shell would carry out.
    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_hands_words_to_hosts_as_they_are(self):
        evil = f"it's; touch {self.trap}; $(touch {self.trap}) `touch {self.trap}` \"&|<>*?"
        hosts = self.write("hosts", "127.0.0.1\n")
        key = self.folder / evil.replace("/", "_")
        key.write_text(KEY.hex())
        key.chmod(0o600)
        done = run("bench", "allreduce", "--hosts", str(hosts), "--key-file", key.name, *QUICK, folder=self.folder,
                   env=self.variables | {
                       "NARROWCAST_TRAIN_NOTE": evil,
                       f"NARROWCAST_TRAIN_;touch {self.trap};": "1",
                       f"NARROWCAST_PLAN_$(touch {self.trap})": "1",
                   })
        self.assertEqual(0, done.returncode, done.stderr)
        self.expect_untouched()

    def test_refuses_hosts_that_are_options_or_commands(self):
        for line in (f"-oProxyCommand=touch,{self.trap}", f"host;touch${{IFS}}{self.trap}", f"$(touch {self.trap})",
                     f"`touch {self.trap}`", f"host|touch{self.trap}", "host&", "host'", 'host"'):
            hosts = self.write("hosts", line + "\n")
            done = run("bench", "allreduce", "--hosts", str(hosts), *QUICK, env=self.variables)
            self.assertEqual(2, done.returncode, line)
            self.assertIn(b"is not 'address [slots]'", done.stderr)
            self.expect_untouched()

    # The words of a launcher are a program and its arguments, whatever is in them.
    @unittest.skipUnless(HAS_TRAIN, "a study of speed needs libtorch, which this build has not")
    def test_starts_launchers_without_a_shell(self):
        study = self.write("study.toml", f"""[[part]]
kind = "speed"
net = "mnist-mlp"
data = "synthetic"
[part.settings]
steps = 20
launcher = "/bin/echo ;touch {self.trap}; $(touch {self.trap}) && touch {self.trap} |"
""")
        done = run("study", "run", str(study), "-o", str(self.folder / "out"))
        self.assertIn(b"1 of them failed", done.stdout)
        self.expect_untouched()

    # Folders above a program may be everybody's, as /tmp is.
    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_loads_nothing_that_others_could_have_put_there(self):
        program, folder = self.folder / "bin" / "narrowcast", self.folder / "modules"
        for path in (program.parent, folder):
            path.mkdir()
        shutil.copy(PROGRAM, program)
        module = pathlib.Path(shutil.copy(pathlib.Path(MODULES, "narrowcast_gloo.so"), folder))

        def finds_it():
            done = subprocess.run([program, "doctor", "--json"], capture_output=True, timeout=DEADLINE, check=True,
                                  env={key: value for key, value in os.environ.items() if key != "NARROWCAST_MODULES"})
            return {engine["module"] for engine in json.loads(done.stdout)["engines"]} == {"", str(module)}

        self.assertTrue(finds_it())
        for path in (folder, module):
            mode = path.stat().st_mode
            path.chmod(mode | 0o002)
            self.assertFalse(finds_it(), path)
            path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(module, 65534, -1)
            self.assertFalse(finds_it())

    def start_rank(self, rank, size, *words):
        """As torchrun starts one, with the job key."""
        place = {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size),
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1", "NARROWCAST_KEY_FILE": str(self.key)}
        process = subprocess.Popen([PROGRAM, "bench", "allreduce", *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=os.environ | place | self.variables)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_has_no_two_ranks_of_one_number(self):
        ranks = [self.start_rank(rank, 3, "--timeout", "5", *QUICK) for rank in (0, 1, 1)]
        ends = [rank.communicate(timeout=DEADLINE)[1] for rank in ranks]
        self.assertTrue(any(b"somebody else has come as" in end for end in ends[1:]), ends)
        self.assertNotIn(0, [rank.returncode for rank in ranks])

    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_listens_no_more_once_ranks_have_met(self):
        ranks = [self.start_rank(rank, 2, "-b", "1K", "-e", "1K", "-n", "1000000") for rank in (0, 1)]
        # Both have met when each has a connection to the other and none is listened for.
        self.assertTrue(wait_for(lambda: all(connections_of(rank.pid) for rank in ranks)))
        self.assertTrue(wait_for(lambda: not any(ports_of(rank.pid) for rank in ranks)),
                        [ports_of(rank.pid) for rank in ranks])
        self.assertEqual([None, None], [rank.poll() for rank in ranks])

    @unittest.skipUnless(HAS_GLOO, "the gloo module is not built")
    def test_ends_when_a_stranger_takes_a_place(self):
        first = self.start_rank(0, 2, "--timeout", "4", *QUICK)
        meeting = int(self.variables["NARROWCAST_PORT"])
        self.assertTrue(wait_for(lambda: set(ports_of(first.pid)) - {meeting}))
        strangers = []
        for port in set(ports_of(first.pid)) - {meeting}:
            stranger = socket.create_connection(("127.0.0.1", port))
            stranger.sendall(b"\x5a" * 64)
            strangers.append(stranger)
        second = self.start_rank(1, 2, "--timeout", "4", *QUICK)
        ends = [rank.communicate(timeout=DEADLINE)[1] for rank in (first, second)]
        self.assertEqual([4, 4], [first.returncode, second.returncode], ends)
        self.assertIn(b"rank 1", ends[0])
        for stranger in strangers:
            stranger.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
