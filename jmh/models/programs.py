# SPDX-License-Identifier: Apache-2.0
"""What the measurements beside this file run: models, the engine's library, and programs in C, all made once."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "jmh" / "target" / "models"
LIBRARY = SCRATCH / "libonnxruntime.so"
LOOP = SCRATCH / "session_load"
LANE_CLIENT = SCRATCH / "lane_load"
SERVERS_IN_C = {"HTTP": SCRATCH / "session_server", "gRPC": SCRATCH / "session_server_grpc"}


def build():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, ROOT / "jmh/models/make_models.py", SCRATCH / "made"], check=True)
    if not LIBRARY.exists():
        jar = next((ROOT / "jmh/target/benchmarks").glob("onnxruntime-1*.jar"))
        machine = {"x86_64": "linux-x64", "aarch64": "linux-aarch64"}[os.uname().machine]
        with zipfile.ZipFile(jar) as archive, open(LIBRARY, "wb") as out:
            out.write(archive.read(f"ai/onnxruntime/native/{machine}/libonnxruntime.so"))
    for program in (LOOP, SERVERS_IN_C["HTTP"], LANE_CLIENT):
        compile(["cc"], program, ".c", [])
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "grpc++"]).returncode == 0:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "grpc++"], check=True, stdout=subprocess.PIPE, text=True)
        compile(["c++", "-std=c++20"], SERVERS_IN_C["gRPC"], ".cc", flags.stdout.split())


def compile(compiler, program, suffix, libraries):
    folder = ROOT / "jmh/src/main/c"
    sources = [folder / (program.name + suffix), folder / "sessions.h", ROOT / "examples/lane/gatun_lane.h"]
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        subprocess.run(
            [*compiler, "-O2", f"-I{ROOT / 'native-headers/onnxruntime'}", f"-I{ROOT / 'examples/lane'}", "-o", program, sources[0],
             *libraries, "-ldl", "-lpthread"],
            check=True)


def file_of(model):
    """The file of a generated model, or of the example `simple`."""
    return (ROOT / "examples/models" if model == "simple" else SCRATCH / "made") / model / "1" / "model.onnx"
