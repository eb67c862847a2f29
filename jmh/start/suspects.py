# SPDX-License-Identifier: Apache-2.0
"""Compares what a request of `simple` costs servers that differ in one thing each:

jmh/suspects [--turns=N] [--cells=BEGINNING,...] [--connections=N] NAME=[COMMIT][;FLAGS OF THE JVM[;FLAGS OF SERVE]] ...

A server without a commit is that of this tree. All of them run at the same time, and are asked in short turns, each turn
in another order, since the machine's speed changes by the minute. A cell is the server's processor time for a request,
the median of its turns, and beside it the median of the turns' ratios to the first server. Two servers of the same flags
compile differently: name some of them twice, and take no difference for one that two equal servers have.

Beside them stands the same exchange by loops in C that compute nothing (--loops, HTTP only): what the machine, its
kernel and the client leave to any server.
"""

import argparse
import contextlib
import pathlib
import random
import statistics
import subprocess
import tempfile

import example_server
import gate

SECONDS = 1


def server(text):
    name, _, what = text.partition("=")
    commit, java_options, flags = (what.split(";") + ["", ""])[:3]
    return name, commit, java_options, flags.split()


@contextlib.contextmanager
def loops(folder, words):
    """A server of jmh/src/main/c/epoll_server.c, as others are."""
    program = folder / "epoll_server"
    subprocess.run(["cc", "-std=gnu11", "-O2", "-pthread", "-o", program, gate.ROOT / "jmh/src/main/c/epoll_server.c"],
                   check=True)
    with subprocess.Popen([program, *words.split()], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield example_server.ExampleServer(process, {"http": int(process.stdout.readline())}, 0)
        finally:
            process.terminate()


def main():
    parser = argparse.ArgumentParser(
        prog="jmh/suspects", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("servers", nargs="+", type=server, metavar="NAME=[COMMIT][;JVM[;SERVE]]")
    parser.add_argument("--turns", type=int, default=9, help="turns of a second for each server (9)")
    parser.add_argument("--cells", default="JSON,binary,gRPC", help="beginnings of the names of cells that jmh/gate has")
    parser.add_argument("--connections", type=int, default=gate.CONNECTIONS, help="connections over HTTP (%(default)s)")
    parser.add_argument("--loops", action="append", default=[], metavar="'own|shared THREADS MICROS'",
                        help="a server in C beside them; may be given several times")
    flags = parser.parse_args()
    if flags.loops and not all(cell in ("JSON", "binary") for cell in flags.cells.split(",")):
        parser.error(f"--loops answers HTTP only, and the cells are {flags.cells}: give --cells=JSON,binary or one of them")
    gate.CONNECTIONS = flags.connections
    gate.require_programs()
    with contextlib.ExitStack() as stack:
        folder = lambda: pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = {
            name: stack.enter_context(
                gate.serving(gate.built(commit) if commit else gate.ROOT, folder(), *rest, java_options=java_options))
            for name, commit, java_options, rest in flags.servers}
        for words in flags.loops:
            servers[f"C, {words}"] = stack.enter_context(loops(folder(), words))
        print("| cell | server | processor, us a request | **ratio** | requests/s | p50, us | p99, us | resident, MB |\n|---|---|---|---|---|---|---|---|",
              flush=True)
        for cell, client in gate.cells(folder()).items():
            if not cell.startswith(tuple(flags.cells.split(","))):
                continue
            for each in servers.values():
                client.ask(each, gate.WARM_UP_SECONDS)
                client.ask(each, gate.WARM_UP_SECONDS)
            rows = {name: [] for name in servers}
            for _ in range(flags.turns):
                for name in random.sample(list(servers), len(servers)):
                    rows[name].append(gate.measure(client, servers[name], SECONDS))
            first = next(iter(rows.values()))
            for name, turns in rows.items():
                ratio = statistics.median(turn[0] / beside[0] for turn, beside in zip(turns, first))
                cost, rate, p50, p99 = (statistics.median(column) for column in zip(*turns))
                print(f"| {cell} | {name} | {cost:.1f} | **{ratio:.2f}** | {rate:,.0f} | {p50:,.0f} | {p99:,.0f} "
                      f"| {servers[name].resident_megabytes():.0f} |", flush=True)


main()
