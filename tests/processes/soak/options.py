"""The words of scripts/soak."""

import argparse
import pathlib
import random

from faults import FAULTS_BY_NAME

PLANTS = ("leak", "wrong-resume")


def parse(words):
    names = ", ".join(FAULTS_BY_NAME)
    parser = argparse.ArgumentParser(
        prog="scripts/soak",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(
            "Trains on four processes and does harm to them at random: ranks and the launcher are killed\n"
            "or stopped, links are slow, messages are altered, the disk is full, checkpoints are damaged.\n"
            "In the end the weights have to be those of an undisturbed run, bit for bit, and in that run\n"
            "neither memory nor descriptors nor threads may grow. Exit code 0 when all of it holds, else 1."
        ),
        epilog="examples:\n  scripts/soak                    half an hour\n"
               "  scripts/soak --short            each fault once, about a minute\n"
               "  scripts/soak --minutes 5 --seed 7 --only kill-rank full-disk\n\n"
               f"faults: {names}",
    )
    parser.add_argument("--minutes", type=float, default=30, help="how long [30]")
    parser.add_argument("--seed", type=int, default=None, help="of the faults [random, and printed]")
    parser.add_argument("--short", action="store_true", help="each fault once, then the end")
    parser.add_argument("--only", nargs="+", metavar="FAULT", choices=FAULTS_BY_NAME, help="these faults")
    parser.add_argument("--folder", type=pathlib.Path, help="for logs, soak.jsonl among them [a new one]")
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--modules", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    # For tests of the soak itself: it has to fail.
    parser.add_argument("--plant", choices=PLANTS, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if not options.minutes > 0:
        parser.error("--minutes takes a number above 0")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    if options.folder and options.folder.exists() and any(options.folder.iterdir()):
        parser.error(f"{options.folder} is not empty")
    options.steps_a_leg = 4 if options.short else 30
    options.fewest_steps = 100
    options.timeout = 5 if options.short else 8
    return options
