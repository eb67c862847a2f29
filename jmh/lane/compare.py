# SPDX-License-Identifier: Apache-2.0
"""What `jmh/run lane` does: one caller of `simple`, in one run and on the same cores, over a bare ping-pong of two
processes, a bare loop of the engine's Run, a lane from C and from Java, and shared memory over the Unix socket and gRPC.

Prints p50 and p99 in microseconds, the median of several turns. Needs a C compiler named cc.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "jmh/target/lane"
PROGRAM = SCRATCH / "lane_pingpong"
LOOP = SCRATCH / "session_load"
LIBRARY = SCRATCH / "libonnxruntime.so"


def build():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-std=gnu11", "-O2", f"-I{ROOT / 'examples/lane'}", "-o", PROGRAM,
                    ROOT / "jmh/src/main/c/lane_pingpong.c"], check=True)
    subprocess.run(["cc", "-O2", f"-I{ROOT / 'native-headers/onnxruntime'}", "-o", LOOP,
                    ROOT / "jmh/src/main/c/session_load.c", "-ldl", "-lpthread"], check=True)
    if not LIBRARY.exists():
        jar = next((ROOT / "jmh/target/benchmarks").glob("onnxruntime-1*.jar"))
        machine = {"x86_64": "linux-x64", "aarch64": "linux-aarch64"}[os.uname().machine]
        with zipfile.ZipFile(jar) as archive, open(LIBRARY, "wb") as out:
            out.write(archive.read(f"ai/onnxruntime/native/{machine}/libonnxruntime.so"))


def ask(*command):
    return tuple(map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()))


def bare_run(seconds):
    model = ROOT / "examples/models/simple/1/model.onnx"
    return ask(LOOP, LIBRARY, model, "1", "1", "1", "16", "0.3", str(seconds), "1")[1:3]


def flight(server, socket, spin, count):
    """16 requests at a time by one thread: p50, p99, rate, and the server's CPU for each in microseconds."""
    ticks = lambda: sum(map(int, open(f"/proc/{server}/stat").read().rsplit(")", 1)[1].split()[11:13]))
    before = ticks()
    figures = ask(PROGRAM, "lane", spin, str(20 * count), str(socket), "16")
    return (*figures, (ticks() - before) / os.sysconf("SC_CLK_TCK") * 1e6 / (20 * count))


def bench(url, transport, seconds, callers):
    """p50, p99 and rate of `gatun bench`."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as table:
        subprocess.run(
            [ROOT / "gatun", "bench", "-m", "simple", "-u", url, f"--transport={transport}", f"--concurrency={callers}",
             f"--warm-up={seconds}s", f"--measurement-interval={seconds}s", "--max-trials=3", f"--csv={table.name}"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "GATUN_BUILD": "never"})
        row = next(csv.DictReader(open(table.name)))
    return float(row["p50_us"]), float(row["p99_us"]), float(row["requests_per_second"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20000, help="round trips of each C program")
    parser.add_argument("--seconds", type=int, default=2, help="seconds of each window of gatun bench")
    parser.add_argument("--turns", type=int, default=3)
    flags = parser.parse_args()
    build()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gatun-lane"))
    rows = {}
    for server_words, more in (("", []), (", server never spins", ["--lane-spin-us=0"])):
        first = not more
        http, grpc, ready = (folder / f"{name}{len(more)}" for name in ("http", "grpc", "ready"))
        server = subprocess.Popen(
            [ROOT / "gatun", "serve", f"--model-repository={ROOT / 'examples/models'}", "--allow-client-shm",
             f"--http-unix-socket={http}", f"--grpc-unix-socket={grpc}", "--http-address=127.0.0.1", "--http-port=0",
             "--grpc-address=127.0.0.1", "--grpc-port=0", "--metrics-port=0", f"--ready-file={ready}", *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "GATUN_BUILD": "never"})
        try:
            while not ready.exists():
                if server.poll() is not None:
                    raise SystemExit(f"the server ended with {server.returncode}")
            for _ in range(flags.turns):
                note = lambda name, cell: rows.setdefault(name, []).append(cell)
                if first:
                    note("ping-pong, sleeping", ask(PROGRAM, "bare", "0", str(flags.count)))
                    note("ping-pong, sleeping on one core", ask(PROGRAM, "bare", "0", str(flags.count), "0"))
                    note("ping-pong, spinning", ask(PROGRAM, "bare", "1", str(flags.count)))
                    note("bare Run", bare_run(flags.seconds))
                    note("unix sealed, gatun bench", bench(f"unix:{http}", "sealed", flags.seconds, 1))
                    note("grpc+unix sealed, gatun bench", bench(f"grpc+unix:{grpc}", "sealed", flags.seconds, 1))
                    note("unix sealed, 16 callers", bench(f"unix:{http}", "sealed", flags.seconds, 16))
                note("lane from C, sleeping" + server_words, ask(PROGRAM, "lane", "0", str(flags.count), str(http)))
                note("lane from C, spinning" + server_words, ask(PROGRAM, "lane", "1", str(flags.count), str(http)))
                note("lane from C, 16 in flight, sleeping" + server_words, flight(server.pid, http, "0", flags.count))
                note("lane from C, 16 in flight, spinning" + server_words, flight(server.pid, http, "1", flags.count))
                note("lane, gatun bench" + server_words, bench(f"lane:{http}", "lane", flags.seconds, 1))
                note("lane, 16 callers" + server_words, bench(f"lane:{http}", "lane", flags.seconds, 16))
        finally:
            server.terminate()
            server.wait()
    print("| `simple` | p50 us | p99 us | requests/s | server CPU, us |\n|---|---|---|---|---|")
    for name, turns in rows.items():
        middle = [sorted(figures)[len(figures) // 2] for figures in zip(*turns)]
        rate = f"{middle[2]:,.0f}" if len(middle) > 2 else ""
        cpu = f"{middle[3]:.1f}" if len(middle) > 3 else ""
        print(f"| {name} | {middle[0]:.1f} | {middle[1]:.1f} | {rate} | {cpu} |")


if __name__ == "__main__":
    main()
