"""Groups that begin and end, ranks that are replaced, late, forked or out of batches.  lives.py CASE TRANSPORT FOLDER"""

import atexit
import datetime
import faulthandler
import gc
import os
import signal
import sys
import threading
import time
import weakref

import torch
import torch.distributed as dist
from job import error, say
from small import model, step

import narrowcast.torch as nct
from narrowcast.torch import _collectives, _wire

CASE, TRANSPORT, FOLDER = sys.argv[1:4]
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
LIVES = 5
IDLE_SECONDS = 2.0
PATIENCE = int(float(os.environ["PATIENCE"]))

if TRANSPORT == "gloo":
    _wire._machine = lambda: f"machine {RANK}"  # so that single tensors travel over it, too


def begin(store="store", rank=RANK, ranks=RANKS):
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/{store}", rank=rank, world_size=ranks)


def plan(seconds, **rule):
    return {"deadline": f"{seconds}s", "rule": [{"tensors": "*", "codec": "bf16", **rule}]}


def compress(ddp, chosen):
    return nct.compress(ddp, chosen, transport=TRANSPORT, say=lambda line: None)


def joined():
    """plan="auto" beside torch's join(): the second rank runs out of batches while computing is measured."""
    begin()
    ddp = model()
    handle = compress(ddp, "auto")
    with ddp.join():
        for _ in range(5 if RANK == 1 else 20):
            step(ddp)
    say(steps=handle.stats()["steps"], step=handle.state_dict()["step"])
    handle.remove()


def replaced():
    """The first process goes through two jobs, the second and the third through one each: in another's place."""
    said = []
    for store, rank in {0: (("first", 0), ("second", 0)), 1: (("first", 1),), 2: (("second", 1),)}[RANK]:
        begin(store, rank, 2)
        ddp = model()
        handle = compress(ddp, plan(30))
        step(ddp)
        total = nct.all_reduce(torch.ones(3), "fp32").tolist()
        said.append([handle.stats()["steps"], total])
        handle.remove()
        del ddp
        dist.destroy_process_group()
    say(said=said)


def late():
    """The first rank calls compress() while no other does, and gives up; then all of them do."""
    begin()
    ddp = model()
    alone = error(lambda: compress(ddp, plan(1))) if RANK == 0 else None
    dist.barrier()
    handle = compress(ddp, plan(30))
    step(ddp)
    say(alone=alone, steps=handle.stats()["steps"])
    handle.remove()


def lives():
    """How many threads and descriptors there are after each of several lives of a group."""
    counts = []
    for life in range(LIVES):
        begin(f"store-{life}")
        nct.all_reduce(torch.ones(4), "fp32")
        dist.destroy_process_group()
        gc.collect()
        counts.append([len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))])
    say(counts=counts)


def dropped():
    """What there is after each of several models and handles that nobody has removed; some are still measured."""
    begin()
    counts, alive = [], []
    for life in range(2 * LIVES):
        ddp = model()
        handle = compress(ddp, "auto" if life % 2 else "dynamic8")
        for _ in range(3):
            step(ddp)
        parameters = [weakref.ref(parameter) for parameter in ddp.parameters()]
        del ddp, handle
        dist.barrier()
        until = time.monotonic() + PATIENCE / 4
        while any(parameter() is not None for parameter in parameters) and time.monotonic() < until:
            gc.collect()
            time.sleep(0.02)
        alive.append(sum(parameter() is not None for parameter in parameters))
        while _wire._open and time.monotonic() < until:
            time.sleep(0.02)
        if life % 2:
            counts.append([len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))])
    say(counts=counts, alive=alive, open=len(_wire._open))


def connecting():
    """A thread of the first rank waits until the second connects a group, and that one waits for a letter first."""
    begin()
    late_group, known = dist.new_group(list(range(RANKS))), dist.new_group(list(range(RANKS)))
    nct.all_reduce(torch.ones(2), "fp32", known)
    sums = torch.ones(2)

    def connect():
        nct.all_reduce(sums, "fp32", late_group)

    if RANK == 0:
        begun = threading.Event()

        class Wire(_wire.Wire):
            def __init__(self, *words):
                begun.set()
                super().__init__(*words)

        _collectives.Wire = Wire
        thread = threading.Thread(target=connect)
        thread.start()
        begun.wait()
        nct.send(torch.ones(2), 1, "fp32", known)
        thread.join()
    else:
        nct.recv(torch.zeros(2), 0, "fp32", known)
        connect()
    say(sums=sums.tolist())


def idle():
    """The second rank lives and does not take its step; nor does it beside one that only follows, as in a Join."""
    begin()
    limited = dist.new_group(list(range(RANKS)), timeout=datetime.timedelta(seconds=IDLE_SECONDS))
    seconds, raised = [], []
    for followed in (False, True):
        dist.barrier()
        ddp = model(limited)
        handle = compress(ddp, plan(60))
        for _ in range(2):
            step(ddp)
        dist.barrier()
        begun = time.monotonic()
        if RANK == 1:
            time.sleep(IDLE_SECONDS + 1)
        # What a rank without batches does in torch's join(), once it has asked the others.
        take = ddp._match_all_reduce_for_bwd_pass if followed and RANK == 0 else lambda: step(ddp)
        # Through shared memory the step of the one that is late may still succeed.
        raised.append(error(take) or error(take))
        seconds.append(time.monotonic() - begun)
        handle.remove()
    say(raised=raised, seconds=seconds)
    os._exit(0)


def epochs():
    """Ranks are in different epochs, which a schedule goes by."""
    begin()
    ddp = model()
    handle = compress(ddp, plan(30, schedule=[{"epoch": 1, "codec": "dynamic8"}]))
    step(ddp)
    handle.set_epoch(RANK)
    say(raised=error(lambda: step(ddp)))
    os._exit(0)


def forked():
    """A process that this one forks ends, orderly, while the ranks train on."""
    begin()
    ddp = model()
    handle = compress(ddp, "dynamic8")
    step(ddp)
    faulthandler.cancel_dump_traceback_later()  # its thread would be missed in the forked one
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        if torch.__version__.startswith("2.0."):
            # Its own groups wait for threads that a forked process has not, with or without us.
            atexit._run_exitfuncs()
            os._exit(0)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    assert status == 0, status
    dist.barrier()
    said = error(lambda: step(ddp))
    say(raised=said, steps=handle.stats()["steps"])
    handle.remove()


globals()[CASE]()
if dist.is_initialized():
    dist.destroy_process_group()
