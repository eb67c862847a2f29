# SPDX-License-Identifier: Apache-2.0
"""Shared memory: blocks go back once, when nothing shows them any more, and a full memory is waited for."""

import gc
import mmap
import os
import sys
import threading
import unittest
import unittest.mock

import numpy as np
from harness import WORKER, ModelTest
from test_execute import PROGRAM
from wire import Memory

sys.path.insert(0, str(WORKER.parent))

from gatun_worker_lib.errors import TritonModelException  # noqa: E402
from gatun_worker_lib.memory import RequestMemory, ResponseMemory  # noqa: E402


class RequestMemoryTest(unittest.TestCase):
    def setUp(self):
        shared = Memory("requests", 1 << 20)
        self.addCleanup(shared.close)
        self.memory = RequestMemory(shared.path, shared.size)

    def test_gives_a_block_back_when_its_last_view_dies(self):
        array = self.memory.array(64, 32, np.dtype("f4"), (2, 4))
        views = [array[1:], array.T, array.reshape(8), memoryview(array), np.asarray(array).view("u4"), array[0][1:2]]
        del array
        while views:
            self.assertEqual([], self.memory.take_freed())
            self.assertTrue(self.memory.held())
            views.pop()
        self.assertEqual([64], self.memory.take_freed())
        self.assertEqual([], self.memory.take_freed())
        self.assertFalse(self.memory.held())

    def test_gives_blocks_of_no_bytes_back(self):
        array = self.memory.array(128, 0, np.dtype("f4"), (0, 4))
        self.assertEqual((0, 4), array.shape)
        del array
        self.assertEqual([128], self.memory.take_freed())

    def test_shows_the_same_memory_both_ways(self):
        array = self.memory.array(0, 8, np.dtype("u1"), (8,))
        array[:] = 7
        again = self.memory.array(0, 8, np.dtype("u1"), (8,))
        self.assertEqual([7] * 8, again.tolist())

    def test_calls_when_many_blocks_wait(self):
        called = []
        self.memory.on_many = lambda: called.append(len(self.memory.freed))
        for index in range(65):
            self.memory.array(64 * index, 64, np.dtype("u1"), (64,))
        self.assertEqual([65], called)
        self.memory.take_freed()
        self.memory.array(0, 1 << 20, np.dtype("u1"), (1 << 20,))
        self.assertEqual([65], called)


class ResponseMemoryTest(unittest.TestCase):
    def memory(self, size, receive=lambda: None):
        self.shared = Memory("responses", size)
        self.addCleanup(self.shared.close)
        return ResponseMemory(self.shared.path, size, receive)

    def test_gives_aligned_blocks_that_do_not_overlap(self):
        memory = self.memory(1 << 24)
        random = np.random.default_rng(5)
        used = {}
        for _ in range(3000):
            if used and random.random() < 0.5:
                offset = list(used)[random.integers(len(used))]
                del used[offset]
                memory.release([offset])
            size = int(random.integers(0, 40000))
            offset = memory.allocate(size)
            self.assertEqual(0, offset % 64)
            self.assertLessEqual(offset + size, 1 << 24)
            for other, length in used.items():
                self.assertTrue(offset + size <= other or other + length <= offset, (offset, size, other, length))
            used[offset] = size
            if len(used) > 150:
                memory.release(list(used))
                used.clear()

    def test_uses_blocks_again_in_other_sizes(self):
        memory = self.memory(1 << 20)
        for size in (100, 1 << 20, 5000, 1 << 19, 64, 1 << 20):
            for _ in range(20):
                memory.release([memory.allocate(size)])
        first = memory.allocate(1 << 19)
        second = memory.allocate(1 << 19)
        memory.release([first])
        # All that is free is a larger block.
        small = [memory.allocate(size) for size in (100, 10000, 1 << 18)]
        self.assertTrue(all(first <= offset < first + (1 << 19) for offset in small))
        memory.release([second, *small])
        self.assertEqual(0, memory.allocate(1 << 20))

    def test_uses_all_that_is_left(self):
        memory = self.memory(3 << 20)
        first = memory.allocate((1 << 20) + 1)
        second = memory.allocate((1 << 20) - 5000)
        self.assertEqual([0, 2 << 20], [first, second])
        memory.release([first, second])
        self.assertEqual(0, memory.allocate((2 << 20) + 1))
        self.assertEqual((2 << 20) + 4096, memory.allocate((1 << 20) - 4096))
        memory.release([0, (2 << 20) + 4096])
        self.assertEqual(0, memory.allocate(3 << 20))

    def test_ignores_blocks_that_it_does_not_know(self):
        memory = self.memory(1 << 16)
        offset = memory.allocate(10)
        memory.release([offset, offset, 4096])
        self.assertNotEqual(memory.allocate(10), memory.allocate(10))

    def test_waits_for_releases(self):
        asked = threading.Event()
        memory = self.memory(1 << 16, asked.set)
        offset = memory.allocate(1 << 16)

        def release():
            asked.wait()
            memory.release([offset])

        thread = threading.Thread(target=release)
        thread.start()
        self.assertEqual(offset, memory.allocate(1 << 16))
        thread.join()

    def test_waits_for_releases_so_long_only(self):
        memory = self.memory(1 << 16)
        memory.allocate(1 << 16)
        with unittest.mock.patch("gatun_worker_lib.memory._WAIT_SECONDS", 0.01):
            with self.assertRaisesRegex(TritonModelException, "no room for 1 bytes more"):
                memory.allocate(1)

    def test_refuses_what_can_never_fit(self):
        memory = self.memory(1 << 16)
        with self.assertRaisesRegex(TritonModelException, "the model's response memory of 65536 bytes is full"):
            memory.allocate((1 << 16) + 1)

    def test_gives_pages_back(self):
        memory = self.memory(1 << 28)
        offsets = [memory.allocate(1 << 26) for _ in range(3)]
        for offset in offsets:
            memory.mapping[offset : offset + (1 << 26) : mmap.PAGESIZE] = b"x" * ((1 << 26) // mmap.PAGESIZE)
        self.assertGreaterEqual(self.resident(), 3 << 26)
        memory.release(offsets)
        self.assertLessEqual(self.resident(), (1 << 26) + (1 << 20))
        self.assertEqual(3, len({memory.allocate(1 << 26) for _ in range(3)}))

    def resident(self):
        return os.fstat(self.shared.descriptor).st_blocks * 512


class WorkerMemoryTest(ModelTest):
    def run_code(self, server, code, **inputs):
        server.execute({"inputs": {"CODE": [code.encode()], **inputs}})
        return server.ran()

    def test_keeps_a_block_while_the_model_has_a_view(self):
        server = self.serve(PROGRAM)
        keep = "model.kept = request.inputs()[1].as_numpy()[1:3]; result = [pb_utils.InferenceResponse([])]"
        self.run_code(server, keep, A=np.arange(5, dtype="f4"))
        (kept,) = server.requests.used
        show = "result = [pb_utils.InferenceResponse([pb_utils.Tensor('OUT', model.kept)])]"
        for _ in range(3):
            outputs = self.run_code(server, show)["responses"][0]["outputs"]
            self.assertEqual([1, 2], outputs["OUT"].tolist())
            self.assertEqual([kept], list(server.requests.used))
        self.run_code(server, "del model.kept; result = [pb_utils.InferenceResponse([])]")
        self.assertEqual({}, server.requests.used)

    def test_gives_many_or_large_blocks_back_without_a_frame_to_go_with(self):
        server = self.serve(PROGRAM)
        code = """
model.go = threading.Event()
model.kept = [tensor.as_numpy() for tensor in request.inputs()[1:]]
def drop():
    model.go.wait()
    model.kept.clear()
threading.Thread(target=drop).start()
result = [pb_utils.InferenceResponse([])]
del request, requests
"""
        inputs = {f"A{index}": np.zeros(3) for index in range(70)}
        self.run_code(server, code, **inputs)
        self.assertEqual(70, len(server.requests.used))
        code = "model.go.set(); result = [pb_utils.InferenceResponse([])]"
        self.run_code(server, code)
        # The last few, fewer than the limit, wait for the next frame.
        server.wait(lambda: len(server.requests.used) < 70)

        self.run_code(server, "result = [pb_utils.InferenceResponse([])]")
        large = np.zeros(5 << 20, "u1")
        keep = "model.kept = request.inputs()[1].as_numpy(); model.go = threading.Event()\n"
        keep += "def drop():\n    model.go.wait()\n    del model.kept\nthreading.Thread(target=drop).start()\n"
        self.run_code(server, keep + "result = [pb_utils.InferenceResponse([])]; del request, requests", A=large)
        self.assertEqual([5 << 20], list(server.requests.used.values()))
        self.run_code(server, code)
        server.wait(lambda: not server.requests.used)

    def test_gives_blocks_of_a_failed_run_back(self):
        server = self.serve(PROGRAM)
        self.assertIn("message", self.run_code(server, "raise ValueError('x')", A=np.zeros(10)))
        self.run_code(server, "result = [pb_utils.InferenceResponse([])]")
        self.assertEqual({}, server.requests.used)

    def test_gives_blocks_of_failed_coroutines_back(self):
        server = self.serve(
            """
            import gc
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def initialize(self, args):
                    gc.disable()
                async def execute(self, requests):
                    if requests[0].inputs():
                        raise ValueError("x")
                    return [pb_utils.InferenceResponse([])]
            """
        )
        self.assertIn("ValueError: x", server.failed({"inputs": {"A": np.zeros(10)}}))
        server.infer({})
        self.assertEqual({}, server.requests.used)

    def test_lets_a_sender_send_another_response_when_one_does_not_fit(self):
        server = self.serve(PROGRAM, decoupled=True, response_bytes=1 << 20)
        code = """
sender = request.get_response_sender()
try:
    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.zeros(1 << 20))]), flags=1)
except pb_utils.TritonModelException as error:
    sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError(str(error))), flags=1)
"""
        server.execute({"inputs": {"CODE": [code.encode()]}})
        sent = server.sent()
        self.assertEqual(1, sent["flags"])
        self.assertIn("response memory of 1048576 bytes is full", sent["response"]["error"][1])

    def test_waits_until_the_server_releases_response_memory(self):
        code = """
sender = request.get_response_sender()
for index in range(6):
    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.full(1 << 19, index, np.uint8))]))
sender.send(flags=1)
"""
        server = self.serve(PROGRAM, "decoupled", decoupled=True, response_bytes=1 << 20)
        server.automatic_release = False
        server.execute({"inputs": {"CODE": [code.encode()]}})
        for index in range(6):
            outputs = server.sent()["response"]["outputs"]
            self.assertTrue((outputs["OUT"] == index).all())
            (offset,) = server.given
            server.given.clear()
            server.release([offset])
        self.assertEqual(1, server.sent()["flags"])
        self.assertEqual([None], server.ran()["responses"])

    def test_fails_a_response_that_does_not_fit(self):
        server = self.serve(PROGRAM, response_bytes=1 << 20)
        code = "result = [pb_utils.InferenceResponse([pb_utils.Tensor('A', np.zeros(10)), "
        code += "pb_utils.Tensor('B', np.zeros(1 << 20))])]"
        message = self.run_code(server, code)["message"]
        self.assertIn("TritonModelException: the model's response memory of 1048576 bytes is full", message)
        # The block of the first tensor went back: all the memory can be used.
        whole = "result = [pb_utils.InferenceResponse([pb_utils.Tensor('A', np.zeros(1 << 20, np.uint8))])]"
        self.assertEqual((1 << 20,), self.run_code(server, whole)["responses"][0]["outputs"]["A"].shape)

    def test_gives_blocks_back_that_only_cycles_hold(self):
        server = self.serve(PROGRAM)
        code = "cycle = [request.inputs()[1].as_numpy()]; cycle.append(cycle); "
        code += "result = [pb_utils.InferenceResponse([])]"
        self.run_code(server, code, A=np.zeros(4))
        self.run_code(server, "gc.collect(); result = [pb_utils.InferenceResponse([])]")
        self.assertEqual({}, server.requests.used)


if __name__ == "__main__":
    gc.collect()
    unittest.main()
