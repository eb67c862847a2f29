# SPDX-License-Identifier: Apache-2.0
"""Servers of the models: Gatun's own processes, and the least that a server in C does."""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

import clients
import programs


def repository(folder, models, instances, batching, extra):
    """Makes a model repository with these models, all configured alike; without a number of instances with the server's."""
    for model in models:
        python = model == "python"
        target = folder / model
        (target / "1").mkdir(parents=True)
        file = programs.ROOT / "jmh/models/python_mlp.py" if python else programs.file_of(model)
        (target / "1" / ("model.py" if python else "model.onnx")).symlink_to(file)
        # A model that may batch is given dynamic batching, as Triton does; one that may not batch is not.
        text = f'name: "{model}"\nbackend: "{"python" if python else "onnxruntime"}"\nmax_batch_size: {32 if batching else 1}\n'
        text += f"instance_group [ {{ count: {instances}, kind: KIND_CPU }} ]\n" if instances else ""
        text += "dynamic_batching { }\n" if batching else ""
        if python:
            inputs, (output, shape) = clients.TENSORS[model]
            for kind, name, datatype, dims in [*(("input", *each) for each in inputs), ("output", output, "FP32", shape)]:
                text += f'{kind} [ {{ name: "{name}", data_type: TYPE_{datatype}, dims: {list(dims[1:])} }} ]\n'
        for entry in extra:
            key, value = entry.split("=", 1)
            text += f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
        (target / "config.pbtxt").write_text(text)


class Server:
    """A server of a repository, with default flags and perhaps more, among them options of the JVM (-D..., -X...)."""

    def __init__(self, models, scratch, gatun, *flags):
        self.models = models
        self.gatun = gatun
        self.socket = scratch / "http.sock"
        ready = scratch / "ready"
        java_options = [flag for flag in flags if flag.startswith(("-D", "-X"))]
        environment = {**os.environ, "GATUN_BUILD": "never"}
        environment["GATUN_JAVA_OPTS"] = " ".join([environment.get("GATUN_JAVA_OPTS", ""), *java_options])
        self.log = open(scratch / "log", "w")
        self.process = subprocess.Popen(
            [gatun, "serve", f"--model-repository={models}", f"--backend-config=python,executable={sys.executable}",
             "--allow-client-shm", "--http-port=0", "--grpc-port=0", "--metrics-port=0", f"--http-unix-socket={self.socket}",
             f"--ready-file={ready}", *(flag for flag in flags if flag not in java_options)],
            stdout=self.log, stderr=subprocess.STDOUT, env=environment)
        while not ready.exists():
            if self.process.poll() is not None:
                raise SystemExit((scratch / "log").read_text())
            time.sleep(0.1)
        lines = ready.read_text().replace("\\", "").splitlines()
        self.ports = dict(line.split("=", 1) for line in lines if "=" in line)

    def url(self, scheme, port=None):
        return f"{scheme}://localhost:{self.ports[(port or scheme) + '.port']}"

    def count(self, model):
        """Inferences that a model has answered."""
        with urllib.request.urlopen(f"{self.url('http')}/v2/models/{model}/stats") as answer:
            return json.load(answer)["model_stats"][0]["inference_count"]

    def cpu_micros(self):
        """The processor time of the server and its workers."""
        processes = [self.process.pid]
        for process in processes:
            for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
                processes += map(int, children.read_text().split())
        # The kernel's clock of another process, clock_getcpuclockid(3), which counts nanoseconds where /proc counts ticks.
        return sum(time.clock_gettime(~process << 3 | 2) for process in processes) * 1e6

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class ServerInC:
    """The least that a server in C or C++ does, for one model, with THREADS and options as its program takes them."""

    def __init__(self, program, model, instances, options):
        self.process = subprocess.Popen(
            [program, programs.LIBRARY, programs.file_of(model), str(instances), str(clients.LENGTH), *options],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, scheme, port=None):
        return f"{scheme}://127.0.0.1:{self.port}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def ask(over, server, model, callers, seconds):
    """Rate, p50 and p99 in microseconds and the server's processor time for each request, by one of the clients."""
    count, cpu = server.count(model), server.cpu_micros()
    rate, p50, p99, answered = over(server, model, callers, seconds)
    cpu, count = server.cpu_micros() - cpu, server.count(model) - count
    if count < answered:
        raise SystemExit(f"{model} answered {count} requests, but {answered} were counted; expected as many")
    return rate, p50, p99, cpu / count
