# SPDX-License-Identifier: Apache-2.0
"""Runs of execute: what models get and return, and what they do wrong."""

import json
import signal
import unittest

import numpy as np
from harness import Died, ModelTest

ADD_SUB = """
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
            b = pb_utils.get_input_tensor_by_name(request, "B").as_numpy()
            responses.append(pb_utils.InferenceResponse(
                [pb_utils.Tensor("SUM", a + b), pb_utils.Tensor("DIFFERENCE", a - b)]))
        return responses
"""

# Runs the code that the request's CODE input holds.
PROGRAM = """
import asyncio, gc, json, os, sys, threading
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        code = pb_utils.get_input_tensor_by_name(requests[0], "CODE").as_numpy()[0].decode()
        scope = {**globals(), "requests": requests, "request": requests[0], "model": self}
        exec(code, scope)
        return scope.get("result")
"""

ONE = np.ones(3, "f4")


class ExecuteTest(ModelTest):
    def test_computes_several_requests_of_a_run(self):
        server = self.serve(ADD_SUB)
        requests = [{"inputs": {"A": np.full((n, 2), n, "f4"), "B": np.ones((n, 2), "f4")}} for n in (1, 2, 3)]
        server.execute(*requests)
        responses = server.ran()["responses"]
        for request, response in zip(requests, responses):
            inputs, outputs = request["inputs"], response["outputs"]
            np.testing.assert_array_equal(outputs["SUM"], inputs["A"] + inputs["B"])
            np.testing.assert_array_equal(outputs["DIFFERENCE"], inputs["A"] - inputs["B"])
            self.assertIsNone(response["error"])
        self.assertEqual({}, server.requests.used)

    def test_sends_only_requested_outputs(self):
        server = self.serve(ADD_SUB)
        response = server.infer({"A": ONE, "B": ONE}, outputs=["DIFFERENCE"])
        self.assertEqual(["DIFFERENCE"], list(response["outputs"]))

    def test_shows_everything_of_a_request(self):
        server = self.serve(PROGRAM)
        code = """
seen = [request.request_id(), request.correlation_id(), request.flags(), request.timeout(),
        json.loads(request.parameters()), sorted(request.requested_output_names()), request.trace().get_context(),
        [tensor.name() for tensor in request.inputs()]]
result = [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([json.dumps(seen)], dtype=np.object_))])]
"""
        parameters = {"b": True, "i": -5, "u": 2**63 + 1, "d": 0.5, "s": "täxt"}
        response = server.infer(
            {"CODE": [code.encode()]},
            id="id-1",
            correlation=7,
            flags=3,
            timeout=1_000_000,
            parameters=parameters,
            outputs=["OUT", "OTHER"],
            trace='{"traceparent": "x"}',
        )
        expected = ["id-1", 7, 3, 1_000_000, parameters, ["OTHER", "OUT"], '{"traceparent": "x"}', ["CODE"]]
        self.assertEqual(expected, json.loads(response["outputs"]["OUT"][0]))

        response = server.infer({"CODE": [code.encode()]}, correlation="seq")
        self.assertEqual(["", "seq", 0, 0, {}, [], None, ["CODE"]], json.loads(response["outputs"]["OUT"][0]))
        response = server.infer({"CODE": [code.encode()]})
        self.assertEqual(["", 0, 0, 0, {}, [], None, ["CODE"]], json.loads(response["outputs"]["OUT"][0]))

    def run_code(self, code, server=None):
        server = server or self.program()
        server.execute({"inputs": {"CODE": [code.encode()]}})
        return server.ran()

    def program(self):
        if not hasattr(self, "programs"):
            self.programs = self.serve(PROGRAM)
        return self.programs

    def message(self, code):
        return self.run_code(code)["message"]

    def test_sends_parameters_and_errors_of_responses(self):
        code = """
result = [pb_utils.InferenceResponse([], parameters={"a": 1, "b": True, "c": "x", "d": -2, "e": 2**63})]
"""
        response = self.run_code(code)["responses"][0]
        self.assertEqual({"a": 1, "b": True, "c": "x", "d": -2, "e": 2**63}, response["parameters"])
        for code, number in (("UNKNOWN", 0), ("INTERNAL", 1), ("NOT_FOUND", 2), ("INVALID_ARG", 3), ("CANCELLED", 7)):
            program = f'error = pb_utils.TritonError("bad", pb_utils.TritonError.{code})\n'
            program += "result = [pb_utils.InferenceResponse(error=error)]"
            self.assertEqual((number, "bad"), self.run_code(program)["responses"][0]["error"])
        program = 'result = [pb_utils.InferenceResponse(error=pb_utils.TritonError("bad"))]'
        self.assertEqual((1, "bad"), self.run_code(program)["responses"][0]["error"])

    def test_says_what_is_wrong_with_a_return(self):
        prefix = "Failed to process the request(s) for model 'model_0_0', message: "
        self.assertEqual(
            prefix + "Expected a list in the execute return, found type '<class 'int'>'.", self.message("result = 5")
        )
        self.assertEqual(
            prefix + "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
            "InferenceRequest(s) size is:1, and InferenceResponse(s) size is:0\n",
            self.message("result = []"),
        )
        self.assertEqual(
            prefix + "Expected an 'InferenceResponse' object in the execute function return list, found type "
            "'<class 'str'>'.",
            self.message("result = ['x']"),
        )
        self.assertEqual(
            prefix + "Expected a None object in the execute function return list for reschduled request, found type "
            "'<class 'int'>'.",
            self.message("request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE); result = [1]"),
        )

    def test_tells_what_execute_raised(self):
        ran = self.run_code("raise ValueError('no such thing')")
        self.assertEqual(
            "Failed to process the request(s) for model 'model_0_0', message: ValueError: no such thing",
            ran["message"],
        )
        self.assertIn("Traceback", ran["traceback"])
        self.assertIn("model.py", ran["traceback"])
        self.assertIn("message: TritonModelException: x", self.message("raise pb_utils.TritonModelException('x')"))
        self.assertIn("message: KeyboardInterrupt", self.message("raise KeyboardInterrupt()"))
        self.assertIn("message: SystemExit: the model called sys.exit(3)", self.message("sys.exit(3)"))
        self.assertIn("ZeroDivisionError", self.message("1 / 0"))
        # The worker still works.
        self.assertIn("responses", self.run_code("result = [pb_utils.InferenceResponse([])]"))

    def test_cuts_long_messages_and_refuses_long_frames(self):
        ran = self.run_code("raise ValueError('x' * 20_000_000)")
        self.assertLess(len(ran["message"]), 70_000)
        self.assertLess(len(ran["traceback"]), 70_000)
        self.assertTrue(ran["message"].endswith("xxx..."))
        long = "pb_utils.InferenceResponse([], error=pb_utils.TritonError('y' * 20_000_000))"
        self.assertLess(len(self.run_code(f"result = [{long}]")["responses"][0]["error"][1]), 70_000)
        message = self.message("result = [pb_utils.InferenceResponse([], parameters={'p': 'z' * 20_000_000})]")
        self.assertIn("bytes beside its tensors, expected less than 16777216", message)
        self.assertIn("ValueError", self.message("pb_utils.load_model('m', files={'file:1/m': bytes(20_000_000)})"))
        # The worker still works.
        self.assertIn("responses", self.run_code("result = [pb_utils.InferenceResponse([])]"))

    def test_needs_execute(self):
        server = self.serve("class TritonPythonModel:\n    pass\n")
        self.assertRegex(server.failed(), "Python model .*model.py does not implement `execute` method.")

    def test_runs_a_request_again(self):
        code = "request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE); result = [None]"
        self.assertEqual(["again"], self.run_code(code)["responses"])
        self.assertEqual(["again"], self.run_code(code.replace("[None]", "None"))["responses"])

    def test_runs_a_coroutine(self):
        server = self.serve(
            """
            import asyncio
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                async def execute(self, requests):
                    await asyncio.sleep(0)
                    async def answer(request):
                        return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", request.inputs()[0].as_numpy())])
                    return list(await asyncio.gather(*[answer(request) for request in requests]))
            """
        )
        server.execute({"inputs": {"A": ONE}}, {"inputs": {"A": 2 * ONE}})
        values = [response["outputs"]["OUT"].tolist() for response in server.ran()["responses"]]
        self.assertEqual([[1, 1, 1], [2, 2, 2]], values)

    def test_tells_what_a_coroutine_raised(self):
        code = "class TritonPythonModel:\n    async def execute(self, requests):\n        raise OSError('a')\n"
        server = self.serve(code)
        self.assertEqual("Failed to process the request(s) for model 'model_0_0', message: OSError: a", server.failed())

    def test_survives_coroutines_that_exit(self):
        server = self.serve(
            """
            import asyncio, sys
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                async def execute(self, requests):
                    what = requests[0].request_id()
                    async def leave():
                        sys.exit(5)
                    if what == "direct":
                        await leave()
                    if what == "task":
                        await asyncio.gather(leave(), asyncio.sleep(0))
                    return [pb_utils.InferenceResponse([])]
            """
        )
        for what in ("direct", "task"):
            self.assertIn("the model called sys.exit(5)", server.failed({"inputs": {}, "id": what}))
            self.assertIsNone(server.infer({})["error"])

    def test_keeps_prints_out_of_the_pipe(self):
        ran = self.run_code(
            "print('printed'); os.write(1, b'written'); os.system('echo shell'); input_ = sys.stdin.read(); "
            "result = [pb_utils.InferenceResponse([])]"
        )
        self.assertIn("responses", ran)
        printed = self.programs.printed()
        for word in ("printed", "written", "shell"):
            self.assertIn(word, printed)

    def test_survives_a_changed_directory_and_forks(self):
        code = """
os.chdir("/")
sender = request.get_response_sender()
child = os.fork()
if child == 0:
    del requests, request
    gc.collect()
    pb_utils.Logger.log_info("from the child")
    refused = 0
    for call in (lambda: pb_utils.is_model_ready("other"), lambda: sender.send(pb_utils.InferenceResponse([]))):
        try:
            call()
        except pb_utils.TritonModelException:
            refused += 1
    call = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[])
    os._exit(refused + 5 * call.exec().has_error())
result = [pb_utils.InferenceResponse(parameters={"status": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])})]
"""
        self.assertEqual({"status": 7}, self.run_code(code)["responses"][0]["parameters"])
        self.assertEqual({}, self.programs.requests.used)
        self.assertIn("from the child", self.programs.printed())

    def test_runs_a_pool_of_processes(self):
        server = self.serve(
            """
            import multiprocessing
            import numpy as np
            import triton_python_backend_utils as pb_utils
            def square(value):
                return value * value
            class TritonPythonModel:
                def execute(self, requests):
                    with multiprocessing.get_context("fork").Pool(2) as pool:
                        squares = pool.map(square, requests[0].inputs()[0].as_numpy().tolist())
                    return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(squares))])]
            """
        )
        response = server.infer({"A": np.arange(5)})
        self.assertEqual([0, 1, 4, 9, 16], response["outputs"]["OUT"].tolist())

    def test_lets_a_model_end_the_processes_that_it_just_forked(self):
        server = self.program()
        response = self.run_code(
            """
import os, signal, time
cores = os.sched_getaffinity(0)
# On one core the signal comes before the child runs.
os.sched_setaffinity(0, {min(cores)})
ended = 0
for _ in range(20):
    child = os.fork()
    if child == 0:
        time.sleep(2)
        os._exit(0)
    os.kill(child, signal.SIGTERM)
    ended += os.WIFSIGNALED(os.waitpid(child, 0)[1])
os.sched_setaffinity(0, cores)
result = [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([ended]))])]
"""
        )
        self.assertEqual([20], response["responses"][0]["outputs"]["OUT"].tolist(), server.printed())

    def test_keeps_signals_of_the_group_away_from_the_model(self):
        server = self.program()
        for number in (signal.SIGINT, signal.SIGTERM):
            server.process.send_signal(number)
        self.assertIn("responses", self.run_code("result = [pb_utils.InferenceResponse([])]"))

    def test_ends_when_the_server_dies_in_the_middle_of_execute(self):
        server = self.serve(
            """
            import threading
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def execute(self, requests):
                    pb_utils.Logger.log_info("here")
                    threading.Event().wait()
            """
        )
        server.execute({"inputs": {}})
        server.wait(lambda: server.logs)
        server.to.close()
        self.assertEqual(1, server.process.wait(20))

    def test_ends_when_the_model_kills_itself(self):
        server = self.program()
        server.execute({"inputs": {"CODE": [b"os._exit(9)"]}})
        with self.assertRaises(Died):
            server.ran()
        self.assertEqual(9, server.process.returncode)

    def test_passes_inputs_on_and_takes_them_as_they_are(self):
        server = self.serve(
            """
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def execute(self, requests):
                    tensor = requests[0].inputs()[0]
                    array = tensor.as_numpy()
                    array += 1
                    return [pb_utils.InferenceResponse([tensor, pb_utils.Tensor("T", array.T),
                                                        pb_utils.Tensor("EVERY", array[:, ::2])])]
            """
        )
        value = np.arange(6, dtype="i4").reshape(2, 3)
        outputs = server.infer({"A": value})["outputs"]
        np.testing.assert_array_equal(outputs["A"], value + 1)
        np.testing.assert_array_equal(outputs["T"], (value + 1).T)
        np.testing.assert_array_equal(outputs["EVERY"], (value + 1)[:, ::2])

    def test_logs_with_the_caller_s_place(self):
        server = self.serve(
            """
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def execute(self, requests):
                    logger = pb_utils.Logger
                    logger.log_info("i")
                    logger.log_warn("w")
                    logger.log_error("e")
                    logger.log_verbose("v")
                    logger.log("plain")
                    logger.log("level", logger.ERROR)
                    return [pb_utils.InferenceResponse([])]
            """
        )
        server.infer({})
        self.assertEqual([2, 1, 0, 3, 2, 0], [record[0] for record in server.logs])
        self.assertEqual(["i", "w", "e", "v", "plain", "level"], [record[1] for record in server.logs])
        self.assertTrue(all(record[2].endswith("/1/model.py") for record in server.logs))
        self.assertEqual([6, 7, 8, 9, 10, 11], [record[3] for record in server.logs])


if __name__ == "__main__":
    unittest.main()
