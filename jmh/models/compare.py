#!/usr/bin/env python3
"""Real-sized models served by Gatun, beside a C program that runs them without a server, or beside Gatun itself with other
flags or of another tree: `jmh/run models`.

For every model, number of instances and of callers it takes turns: the C program with ONNX Runtime's defaults and with several
other settings, and a client of each transport against a server with dynamic batching and one without; each turn is a process of
its own, and the servers are idle while others run. The C program runs as Gatun's instances do, one request at a time for each
session, or as many at a time as there are callers; the best of all its settings counts. What the transport takes is measured by
as many callers of a model that does nothing. Beside "both" stands what a request takes in the C program and in the transport
together: of the rate for the first figure, of the mean latency for p50, of both p99 for the last. For HTTP there is another
program in C, and for gRPC one in C++ where grpc++ is installed (libgrpc++-dev): servers that do the least they can around the
same sessions, asked by the same clients; the best of all settings counts, and the best of those that run one request of a
session at a time, as instances do. Prints a line of Markdown for each cell: medians of the turns.

Several variants, of `--variant` or of launchers, are servers of the same models that are asked in turns, each turn in another
order. A second table compares them with the first variant: a ratio is the median of the turns' ratios, and in brackets are the
quartiles. What a server compiled and learned stays with it, so that two servers of the same flags differ: see by how much, with
a variant that is given twice, and start them anew for several rounds (`--rounds 3 --turns 3`). `--no-c` leaves the C programs
out, and the second table is the only one; the Python model stands in that table, since it has no program beside it.

  jmh/run models --models mlp python --no-c --turns 7 --transports HTTP lane --variant on= --variant off=--lane-spin-us=0
  jmh/run models --models mlp --no-c --turns 7 --transports HTTP gRPC --gatun BEFORE/gatun ./gatun

Needs wrk, h2load, a C compiler named cc, and numpy and onnx for making the models (Debian's python3-numpy and python3-onnx, or
`pip install numpy onnx`).
"""

import argparse
import collections
import contextlib
import csv
import itertools
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

import clients
import programs
import servers

BARE = {"cnn": "bare_picture"}  # what does nothing with the same inputs; of all others bare_row

SPIN = ["session.intra_op.allow_spinning=1", "session.intra_op.spin_duration_us=50"]
ONE = "loop.one_at_a_time=1"

# What the C program is told: threads within an operator and options. As many runs of a session at a time as there are callers,
# but where it says one.
SETTINGS = {
    "defaults": ["0"],
    "defaults, one at a time": ["0", ONE],
    "one thread": ["1"],
    "all cores": ["{cores}", *SPIN, ONE],
    "a share": ["{share}", *SPIN, ONE],
}

OVER = {
    "shared memory": lambda *cell: clients.over_grpc(*cell, shared=True),
    "gRPC": clients.over_grpc,
    "HTTP": clients.over_http,
    "lane": clients.over_lane,
}


def embedded(models, gatun, model, callers, flags):
    """The same of `gatun bench` around an embedded server, for all numbers of callers at once; the processor time is of both."""
    python = os.path.dirname(sys.executable)
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        shape = [f"--shape={name}:{','.join(map(str, shape[1:]))}" for name, _, shape in clients.TENSORS[model][0]]
        subprocess.run(
            [gatun, "bench", "-m", model, f"--concurrency={','.join(map(str, callers))}", f"--warm-up={2 * flags.warm_up}s",
             f"--measurement-interval={flags.window}s", "--max-trials=3", f"--csv={table.name}", f"--embedded={models}", *shape],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "GATUN_BUILD": "never", "PATH": f"{python}:{os.environ['PATH']}"})
        rows = list(csv.DictReader(open(table.name)))
    fields = ["requests_per_second", "p50_us", "p99_us", "process_cpu_us_per_request"]
    return {number: tuple(float(row[field]) for field in fields) for number, row in zip(callers, rows, strict=True)}


def options_of(instances, settings):
    cores = len(os.sched_getaffinity(0))
    return [option.format(cores=cores, share=max(1, cores // instances)) for option in settings]


def loop(model, instances, callers, settings, window):
    """The same of the C program."""
    out = subprocess.run(
        [programs.LOOP, programs.LIBRARY, programs.file_of(model), str(instances), str(callers), "1", str(clients.LENGTH), "0.3",
         str(window), *options_of(instances, settings)],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return tuple(map(float, out.split()))


def median(turns):
    return [statistics.median(figures) for figures in zip(*turns)]


def settings_for(instances):
    return {name: settings for name, settings in SETTINGS.items() if instances > 1 or name != "a share"}


def best_of(settings):
    """The name and the medians of the settings with the highest rate."""
    return max(((name, median(turns)) for name, turns in settings.items()), key=lambda entry: entry[1][0])


class Figures:
    """What was measured of one number of callers: lists with an entry for each turn."""

    def __init__(self):
        self.loops = collections.defaultdict(list)  # by the names of settings
        self.in_c = collections.defaultdict(list)  # by transports and the names of settings
        self.cells = collections.defaultdict(list)  # by whether the server batches, variants and transports
        self.bare = collections.defaultdict(list)


class Cells:
    """What is measured of one model with one number of instances, in one or several rounds of servers."""

    def __init__(self, model, instances, flags):
        self.model = model
        self.instances = instances
        self.flags = flags
        self.beside_c = not flags.no_c and model != "python"
        self.bare = BARE.get(model, "bare_row")
        self.transports = [transport for transport in flags.transports if transport != "embedded"]
        self.figures = {callers: Figures() for callers in flags.callers}

    def round(self, number):
        """Starts servers, each round another variant first, and measures them."""
        flags = self.flags
        scratch = pathlib.Path(tempfile.mkdtemp())
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, scratch)
            running = {}
            for batching, (variant, (gatun, more)) in rotated(itertools.product(flags.batching, flags.variants.items()), number):
                folder = scratch / str(len(running))
                folder.mkdir()
                servers.repository(
                    folder / "repository", [self.model, self.bare], self.instances, batching == "yes", flags.parameter)
                running[batching, variant] = servers.Server(folder / "repository", folder, gatun, *more)
                stack.callback(running[batching, variant].close)
            in_c = {}
            for transport, program in programs.SERVERS_IN_C.items():
                if transport in flags.transports and program.exists() and self.beside_c:
                    for name, settings in settings_for(self.instances).items():
                        options = options_of(self.instances, settings)
                        in_c[transport, name] = servers.ServerInC(program, self.model, self.instances, options)
                        stack.callback(in_c[transport, name].close)
            self.warm(running)
            self.measure(running, in_c, number)

    def ask(self, server, model, transport, callers, seconds):
        return servers.ask(OVER[transport], server, model, callers, seconds)

    def warm(self, running):
        """Has the servers compile their ways of requests, as servers have that have run for a while."""
        for server in running.values():
            for transport in self.transports:
                for model in [self.bare, self.model] if self.beside_c else [self.model]:
                    self.ask(server, model, transport, 4, self.flags.warm_up)

    def measure(self, running, in_c, number):
        flags = self.flags
        if "embedded" in flags.transports:
            for key, server in running.items():
                for callers, turn in embedded(server.models, server.gatun, self.model, flags.callers, flags).items():
                    self.figures[callers].cells[*key, "embedded"].append(turn)
        for callers, figures in self.figures.items():
            for server in running.values():
                for transport in self.transports:
                    self.ask(server, self.model, transport, callers, flags.settling)
            for turn in range(flags.turns):
                if self.beside_c:
                    for name, settings in settings_for(self.instances).items():
                        figures.loops[name].append(loop(self.model, self.instances, callers, settings, flags.window))
                for (transport, name), server in in_c.items():
                    figures.in_c[transport, name].append(OVER[transport](server, self.model, callers, flags.window)[:3])
                for transport in self.transports:
                    for key, server in rotated(running.items(), number + turn):
                        figures.cells[*key, transport].append(self.ask(server, self.model, transport, callers, flags.window))
                        if self.beside_c:
                            figures.bare[*key, transport].append(self.ask(server, self.bare, transport, callers, flags.window))

    def lines(self):
        """Prints the cells beside the C programs, and yields the lines of the table of variants."""
        for callers, figures in self.figures.items():
            for (batching, variant, transport), turns in sorted(figures.cells.items(), key=self.place):
                cell = f"{self.model} | {self.instances} | {batching} | {callers} | {transport}"
                if not self.beside_c or len(self.flags.variants) > 1:
                    yield beside_variant(cell, variant, turns, figures.cells[batching, next(iter(self.flags.variants)), transport])
                if self.beside_c:
                    cell += f", {variant}" if variant else ""
                    bare = figures.bare.get((batching, variant, transport))
                    print_beside_c(cell, callers, median(turns), *best_of(figures.loops), median(bare) if bare else None)
                in_c = {name: turns for (way, name), turns in figures.in_c.items() if way == transport}
                if in_c:
                    alone = {name: turns for name, turns in in_c.items() if ONE in SETTINGS[name]}
                    for name, theirs in dict([best_of(in_c), best_of(alone)]).items():
                        print_beside_server_in_c(cell, median(turns), name, theirs)

    def place(self, entry):
        batching, variant, transport = entry[0]
        return batching, self.flags.transports.index(transport), list(self.flags.variants).index(variant)


def rotated(items, places):
    """The items, from another one on each time."""
    items = list(items)
    places %= len(items)
    return items[places:] + items[:places]


def beside_variant(cell, variant, turns, first):
    """A line of the table of variants."""
    ours = median(turns)
    rate, _, p99, cpu = (ratio(*pair) for pair in zip(zip(*turns), zip(*first)))
    return f"| {cell} | {variant} | {ours[0]:,.0f} | {rate} | {ours[1]:,.0f} | {ours[2]:,.0f} | {p99} | {ours[3]:,.0f} | {cpu} |"


def ratio(ours, theirs):
    """The median of the turns' ratios, and between which of them the middle half lies."""
    ratios = [mine / other for mine, other in zip(ours, theirs)]
    text = f"**{statistics.median(ratios):.2f}**"
    if len(ratios) < 4 or ours == theirs:
        return text
    low, _, high = statistics.quantiles(ratios, n=4)
    return f"{text} ({low:.2f} to {high:.2f})"


def print_beside_server_in_c(cell, ours, name, theirs):
    print(
        f"| {cell}, beside the server in C: {theirs[0]:,.0f} ({name}) "
        f"| {ours[0]:,.0f} | | | | **{ours[0] / theirs[0]:.2f}** | {ours[1]:,.0f} | {ours[1] / theirs[1]:.2f} "
        f"| {ours[2]:,.0f} | {ours[2] / theirs[2]:.2f} | | |", flush=True)


def print_beside_c(cell, callers, ours, name, theirs, bare):
    # A request takes what its run takes and what the transport takes, whether callers wait for both or both want the cores.
    expected = 1 / (1 / theirs[0] + (1 / bare[0] if bare else 0))
    waits = bare[1] if bare else 0
    print(
        f"| {cell} | {ours[0]:,.0f} | {theirs[0]:,.0f} ({name}) "
        f"| {ours[0] / theirs[0]:.2f} | {expected:,.0f} | **{ours[0] / expected:.2f}** | {ours[1]:,.0f} "
        f"| {ours[1] * expected / callers / 1e6:.2f} | {ours[2]:,.0f} | {ours[2] / (theirs[2] + waits):.2f} | {ours[3]:,.0f} "
        f"| {theirs[3]:,.0f} |", flush=True)


def heading(*columns):
    print(f"| model | instances | batching | callers | transport | {' | '.join(columns)} |")
    print("|" + "---|" * (5 + len(columns)), flush=True)


def variants_of(flags):
    """The launcher and the more flags of each variant by its name; the first is what others are compared with."""
    given = [variant.partition("=")[::2] for variant in flags.variant] or [("", "")]
    launchers = flags.gatun if len(flags.gatun) > 1 else [""]
    return {", ".join(filter(None, [launcher, name])): (launcher or flags.gatun[0], shlex.split(more))
            for launcher, (name, more) in itertools.product(launchers, given)}


def parse_flags():
    names = ["cnn", "encoder", "mlp", "forest", "recommender", "quantised", "python"]
    parser = argparse.ArgumentParser(
        prog="jmh/run models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=names, choices=names)
    parser.add_argument("--instances", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--batching", nargs="+", choices=["no", "yes"], default=["no", "yes"])
    parser.add_argument("--callers", nargs="+", type=int, default=[1, 2, 4, 8, 32])
    parser.add_argument("--transports", nargs="+", choices=["embedded", *OVER], default=["embedded", *OVER])
    parser.add_argument("--turns", type=int, default=1, help="windows of each cell in a round")
    parser.add_argument("--rounds", type=int, default=1, help="how often all servers are started anew and measured")
    parser.add_argument("--window", type=int, default=2, help="seconds of a window of measurement")
    parser.add_argument("--warm-up", type=int, default=15, help="seconds of each model and transport before the first window")
    parser.add_argument("--settling", type=int, default=4,
                        help="seconds before the turns, in which servers learn how so many callers are served best")
    parser.add_argument("--parameter", action="append", default=[], metavar="KEY=VALUE", help="a parameter of each model")
    parser.add_argument("--gatun", nargs="+", default=[str(programs.ROOT / "gatun")], metavar="LAUNCHER",
                        help="other launchers, or several to compare with the first in turns")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=FLAGS",
                        help="a server with more flags, and options of the JVM (-D..., -X...), to compare with the first in turns")
    parser.add_argument("--no-c", action="store_true", help="measure no program in C")
    flags = parser.parse_args()
    flags.variants = variants_of(flags)
    if "embedded" in flags.transports and any(more for _, more in flags.variants.values()):
        parser.error("an embedded server takes no flags; with --variant name --transports without 'embedded'")
    return flags


def main():
    flags = parse_flags()
    clients.require()
    programs.build()
    compared = ("variant", "requests/s", "**of the first**", "p50, us", "p99, us", "**of the first**", "server CPU, us",
                "**of the first**")
    if flags.no_c:
        heading(*compared)
    else:
        heading("requests/s", "C program, its best setting", "of it", "C program and transport", "**of both**", "p50, us",
                "of both", "p99, us", "of both", "server CPU, us", "C program's")
    lines = []
    for instances, model in itertools.product(flags.instances, flags.models):
        cells = Cells(model, instances, flags)
        for number in range(flags.rounds):
            cells.round(number)
        for line in cells.lines():
            if flags.no_c:
                print(line, flush=True)
            else:
                lines.append(line)
    if lines:
        print()
        heading(*compared)
        print("\n".join(lines))


if __name__ == "__main__":
    main()
