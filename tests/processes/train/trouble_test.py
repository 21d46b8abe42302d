"""What can go wrong around a run: one clear line, an exit code, and nothing is lost.

    trouble_test.py PROGRAM MODULES
"""

import gzip
import resource
import struct

import training
from training import SMALL, run, train


def idx_images(count, side=28):
    return struct.pack(">IIII", 2051, count, side, side) + bytes(count * side * side)


def idx_labels(count, label=0):
    return struct.pack(">II", 2049, count) + bytes([label]) * count


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


class Trouble(training.Training):
    def mnist(self, **changes):
        files = {
            "train-images-idx3-ubyte": idx_images(64),
            "train-labels-idx1-ubyte": idx_labels(64),
            "t10k-images-idx3-ubyte": idx_images(16),
            "t10k-labels-idx1-ubyte": idx_labels(16),
        } | {key.replace("__", "-"): value for key, value in changes.items()}
        folder = self.folder / "mnist"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return ["--net", "mnist-mlp", "--data", str(folder), "--batch", "8", "--steps", "2"]

    def test_reads_a_folder_of_idx_files(self):
        run(*self.mnist())

    def test_refuses_damaged_data(self):
        cases = {
            "truncated": {"train__images__idx3__ubyte": idx_images(64)[:-1]},
            "magic": {"train__images__idx3__ubyte": b"\0\0\0\1" + idx_images(64)[4:]},
            "labels": {"train__labels__idx1__ubyte": idx_labels(63)},
            "label": {"train__labels__idx1__ubyte": idx_labels(64, 200)},
            "empty": {"t10k__labels__idx1__ubyte": b""},
        }
        for name, change in cases.items():
            with self.subTest(name):
                self.expect_refused(3, "idx", *self.mnist(**change))

    def test_refuses_gzip_that_was_cut_off(self):
        words = self.mnist()
        folder = self.folder / "mnist"
        whole = gzip.compress(idx_images(64))
        (folder / "train-images-idx3-ubyte").unlink()
        (folder / "train-images-idx3-ubyte.gz").write_bytes(whole[: len(whole) // 2])
        self.expect_refused(3, "train-images", *words)

    def test_says_what_is_missing(self):
        self.expect_refused(2, "mnist", "--data", "mnist", "--set",
                            f"data_folder={self.folder}", "--steps", "1")

    def test_refuses_a_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        self.expect_refused(5, "file", *SMALL, "--steps", "2", "--checkpoint",
                            str(self.folder / "file" / "below"))

    def test_refuses_weights_that_cannot_be_written_before_it_trains(self):
        (self.folder / "file").write_text("")
        done = train(*SMALL, "--steps", "2", "--json", "-", "--weights",
                     str(self.folder / "file" / "below"), check=False)
        self.assertEqual(5, done.returncode)
        self.assertRegex(done.stderr, "narrowcast: cannot write '.*below': Not a directory")
        self.assertEqual("", done.stdout)

    # The limit of a file's size is as near as one comes to a full disk without being root.
    def test_a_full_disk_loses_no_checkpoint(self):
        kept = ["--checkpoint", str(self.folder / "kept")]
        run(*SMALL, "--steps", "3", *kept)
        before = {file.name: file.read_bytes() for file in (self.folder / "kept").iterdir()}
        self.expect_refused(5, "kept", *SMALL, "--steps", "6", *kept, "--resume",
                            "--transport", "gloo", preexec_fn=small_files)
        after = {file.name: file.read_bytes() for file in (self.folder / "kept").iterdir()}
        self.assertEqual(before, after)

    def test_refuses_what_does_not_go_together(self):
        for code, pattern, words in (
            (2, "checkpoint", ["--resume"]),
            (2, "--checkpoint", ["--restarts", "2"]),
            (2, "mnist-mlp", ["--net", "mnist-mpl"]),
            (2, "dynamic8", ["--codec", "dynamic9"]),
            (2, "epochs", ["--epochs", "0"]),
            (2, "optimiser", ["--set", "optimizer.rate=1"]),
            (2, "hybrid", ["--net", "resnet20", "--data", "synthetic", "--parallel", "model"]),
            (5, "nowhere", ["--data", "synthetic", "--steps", "1", "--json", "/nowhere/x.jsonl"]),
        ):
            with self.subTest(" ".join(words)):
                self.expect_refused(code, pattern, *words)

    def test_plan_errors_have_their_line(self):
        plan = self.folder / "plan.toml"
        plan.write_text('algorithm = "direct"\nfusoin = "4MiB"\n')
        self.expect_refused(2, r"plan\.toml:2.*fusion", "--plan", str(plan))


if __name__ == "__main__":
    training.main()
