# SPDX-License-Identifier: Apache-2.0
"""The program of a worker process: serves one model to the server that started it."""

import fcntl
import os
import sys
import traceback


def _take_pipes():
    """Moves the pipes to the server away from where the model's reads and prints go; their new descriptors."""
    pipes = tuple(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3) for descriptor in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return pipes


if __name__ == "__main__":
    _pipes = _take_pipes()
    # The server ends what is left of the session when this process has ended.
    if os.getpgrp() != os.getpid():
        os.setsid()
    # Models see the arguments of an embedded interpreter: none.
    sys.argv = [""]
    from gatun_worker_lib.worker import main

    try:
        main(*_pipes)
    except BaseException:
        # Threads that the model left running must not keep a process that serves no more.
        traceback.print_exc()
        os._exit(3)
