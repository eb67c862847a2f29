# SPDX-License-Identifier: Apache-2.0
"""Measures servers on one core, on two, four and so on, and on all there are: jmh/cores [SECONDS [TURNS [PICTURE.svg]]].

A server of `simple`, `mlp` and `encoder` with default flags, default instances and dynamic batching is bound to so many cores,
and asked over HTTP (wrk) and gRPC (h2load) by two callers for each core; beside it a C program on the same cores runs the same
file by ONNX Runtime from as many threads, with one thread for each run or with all cores for one run after the other, whichever
has the higher rate. A core is what the system counts as one; hardware threads of a core that is in use come last. The
client has as many other cores where the machine has them. Prints a table of Markdown, medians of TURNS (3) windows of SECONDS (2),
and draws it into PICTURE.svg (jmh/target/cores.svg). Takes three minutes for each number of cores with the defaults.

Needs what `jmh/run models` needs.
"""

import argparse
import contextlib
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import chart  # beside this file
import clients
import compare
import programs
import servers

MODELS = ["simple", "mlp", "encoder"]
WARM_UP_SECONDS, SETTLING_SECONDS = 10, 4
IN_C = "ONNX Runtime in C"
OVER = {"HTTP": clients.over_http, "gRPC": clients.over_grpc}
FIGURES = {"requests/s": 0, "p99, us": 2, "processor, us a request": 3}


def cores_in_order():
    """The cores that this process may use: first one hardware thread of each physical core, then their siblings."""
    def rank(core):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        threads = re.findall(r"\d+", siblings.read_text()) if siblings.exists() else [core]
        return min(map(int, threads)) != core, core
    return sorted(os.sched_getaffinity(0), key=rank)


@contextlib.contextmanager
def bound(cores):
    """Binds this thread, and the processes that it starts meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Bound:
    """Measures on some cores, with a client on others."""

    def __init__(self, cores, client_cores, seconds):
        self.cores, self.client_cores, self.seconds = cores, client_cores, seconds
        self.callers = 2 * len(cores)
        threads = min(self.callers, len(client_cores))
        self.over = {name: functools.partial(over, threads=threads) for name, over in OVER.items()}

    def ask(self, server, model, way, seconds):
        with bound(self.client_cores):
            return servers.ask(self.over[way], server, model, self.callers, seconds)

    def loop(self, model, name):
        with bound(self.cores):
            return compare.loop(model, 1, self.callers, compare.SETTINGS[name], self.seconds)

    def measure(self, folder, turns):
        """Rate, p50, p99 and processor time by model and way."""
        servers.repository(folder / "repository", MODELS, None, True, [])
        with bound(self.cores):
            server = servers.Server(folder / "repository", folder, str(programs.ROOT / "gatun"))
        with contextlib.closing(server):
            for model in MODELS:
                for way in self.over:
                    self.ask(server, model, way, WARM_UP_SECONDS)
            return {model: self.turns(server, model, turns) for model in MODELS}

    def turns(self, server, model, turns):
        loops, ways = {}, {}
        for way in self.over:
            self.ask(server, model, way, SETTLING_SECONDS)
        for _ in range(turns):
            for name in ("one thread", "all cores"):
                loops.setdefault(name, []).append(self.loop(model, name))
            for way in self.over:
                ways.setdefault(way, []).append(self.ask(server, model, way, self.seconds))
        return {IN_C: compare.best_of(loops)[1], **{way: compare.median(figures) for way, figures in ways.items()}}


def main():
    parser = argparse.ArgumentParser(prog="jmh/cores", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=int, default=2, help="of a window of measurement (2)")
    parser.add_argument("turns", nargs="?", type=int, default=3, help="windows of each figure (3)")
    parser.add_argument("picture", nargs="?", type=pathlib.Path, default=programs.ROOT / "jmh/target/cores.svg")
    flags = parser.parse_args()
    clients.require()
    programs.build()
    subprocess.run([programs.ROOT / "gatun", "--version"], check=True, stdout=subprocess.DEVNULL)
    order = cores_in_order()
    counts = sorted({1 << power for power in range(len(order).bit_length())} | {len(order)})
    ways = [IN_C, *OVER]
    heads = [f"{figure}: {ways[0]} | {' | '.join(ways[1:])}" for figure in FIGURES]
    print(f"| model | cores | callers | client's cores | {' | '.join(heads)} |\n{'|---' * (4 + 3 * len(heads))}|", flush=True)
    measured = {}
    for count in counts:
        cores, others = order[:count], order[count:2 * count]
        with tempfile.TemporaryDirectory() as folder:
            on_cores = Bound(cores, others or cores, flags.seconds)
            measured[count] = on_cores.measure(pathlib.Path(folder), flags.turns)
        for model, cell in measured[count].items():
            figures = [f"{cell[way][column]:,.0f}" for column in FIGURES.values() for way in ways]
            client = f"{len(others)} more" if others else "the same"
            print(f"| `{model}` | {count} | {on_cores.callers} | {client} | {' | '.join(figures)} |", flush=True)
    charts = [(f"{model}: {figure}", {way: [measured[count][model][way][column] for count in counts] for way in ways})
              for figure, column in FIGURES.items() for model in MODELS]
    chart.draw(flags.picture, counts, charts, len(MODELS))
    print(f"\nThe picture is {flags.picture}; to the right are cores.")


if __name__ == "__main__":
    main()
