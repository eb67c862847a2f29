# SPDX-License-Identifier: Apache-2.0
"""A server of the example models, for the measurements beside this file. It must have been built before."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTENERS = ("http", "grpc", "metrics")


class ExampleServer:
    """A server that is ready: its process, its ports by listener, and the seconds from the launcher's call to ready."""

    def __init__(self, process, ports, took):
        self.process, self.ports, self.took = process, ports, took

    def processor_seconds(self):
        # The kernel's clock of another process, clock_getcpuclockid(3), which counts nanoseconds where /proc counts ticks.
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def resident_megabytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise ValueError(f"no resident memory of {self.process.pid}")


@contextlib.contextmanager
def running(*flags, java_options="", root=ROOT):
    """Starts the server of a tree on free ports, with more flags of `serve` and options of the JVM; ends it at last."""
    with tempfile.TemporaryDirectory() as folder:
        ready = pathlib.Path(folder) / "ready"
        ports = [f"--{listener}-port=0" for listener in LISTENERS]
        begin = time.monotonic()
        process = subprocess.Popen(
            [root / "gatun", "serve", f"--model-repository={root}/examples/models", f"--ready-file={ready}", *ports,
             *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "GATUN_BUILD": "never", "GATUN_JAVA_OPTS": java_options})
        try:
            while not ready.exists():
                if process.poll() is not None:
                    sys.exit(f"the server ended with {process.returncode}; run 'mvn package' first")
                time.sleep(0.002)
            took = time.monotonic() - begin
            lines = dict(line.split("=", 1) for line in ready.read_text().splitlines() if "=" in line)
            yield ExampleServer(process, {name: int(lines[f"{name}.port"]) for name in LISTENERS}, took)
        finally:
            process.terminate()
            process.wait()
