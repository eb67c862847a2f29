# SPDX-License-Identifier: Apache-2.0
"""Calls of models to the server."""

import json
import os
import unittest

import numpy as np
from harness import ModelTest
from test_execute import PROGRAM

INFER, CANCEL, CANCELLED, LOAD, UNLOAD, READY, FAMILY, METRIC, CHANGE, VALUE, DROP_METRIC, DROP_FAMILY = range(1, 13)
RESPONSE = 2

CALLER = """
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            call = pb_utils.InferenceRequest(
                model_name="other", inputs=request.inputs(), requested_output_names=["OUT"])
            answer = call.exec()
            if answer.has_error():
                responses.append(pb_utils.InferenceResponse(error=answer.error()))
            else:
                responses.append(pb_utils.InferenceResponse(answer.output_tensors()))
        return responses
"""


class CallTest(ModelTest):
    def program(self, code, server=None, **options):
        server = server or self.serve(PROGRAM, **options)
        server.execute({"inputs": {"CODE": [code.encode()]}})
        return server

    def parameters(self, server):
        """What the program gave as parameters of its only response."""
        ran = server.ran()
        self.assertIn("responses", ran, ran)
        return ran["responses"][0]["parameters"]

    def test_infers_with_all_arguments(self):
        code = """
call = pb_utils.InferenceRequest(
    model_name=b"other", model_version=3, request_id="id", correlation_id="s", flags=1, timeout=9,
    inputs=[pb_utils.Tensor("IN", np.arange(3, dtype=np.int64)), pb_utils.Tensor("S", np.array([b"a", "b"], object))],
    requested_output_names=["B", "A", "A"], parameters={"p": 1, "q": False, "r": "x"}, trace=request.trace(),
    preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU, 0))
call.set_flags(call.flags() | pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_END)
assert call.exec().output_tensors()[0].as_numpy().tolist() == [2]
result = [pb_utils.InferenceResponse(parameters={"ok": True})]
"""
        server = self.serve(PROGRAM)
        request = server.execute({"inputs": {"CODE": [code.encode()]}, "trace": "T"})[0]
        call = server.call()
        tensors = call.pop("tensors")
        self.assertEqual([0, 1, 2], tensors["IN"].tolist())
        self.assertEqual([b"a", b"b"], tensors["S"].tolist())
        expected = dict(method=INFER, model="other", version=3, id="id", correlation="s", flags=3, timeout=9)
        expected.update(priority=0, decoupled=False, trace=request + 1, parameters={"p": 1, "q": False, "r": "x"})
        expected.update(outputs=["A", "B"], call=call["call"])
        self.assertEqual(expected, call)
        server.result(call, RESPONSE, tensors=[("A", np.array([2]))])
        self.assertEqual({"ok": True}, self.parameters(server))

    def test_passes_a_response_on(self):
        server = self.serve(CALLER)
        for _ in range(3):
            value = np.arange(4, dtype="f2")
            server.execute({"inputs": {"IN": value}})
            call = server.call()
            self.assertEqual((None, -1), (call["correlation"], call["version"]))
            np.testing.assert_array_equal(call["tensors"]["IN"], value)
            server.result(call, RESPONSE, tensors=[("OUT", value * 2), ("S", np.array([b"x"], object))])
            outputs = server.ran()["responses"][0]["outputs"]
            np.testing.assert_array_equal(outputs["OUT"], value * 2)
            self.assertEqual([b"x"], outputs["S"].tolist())
        server.wait(lambda: not server.requests.used)

    def test_passes_an_error_on(self):
        server = self.serve(CALLER)
        server.execute({"inputs": {}})
        server.result(server.call(), error=(2, "no model other"))
        self.assertEqual((2, "no model other"), server.ran()["responses"][0]["error"])

    def test_streams_responses(self):
        code = """
call = pb_utils.InferenceRequest(model_name="other", inputs=[], requested_output_names=[])
stream = call.exec(decoupled=True)
seen = []
for response in stream:
    seen.append([tensor.as_numpy().tolist() for tensor in response.output_tensors()] or
                (response.error().message() if response.has_error() else "empty"))
assert len(list(stream)) == len(seen)
try:
    next(stream)
    again = False
except StopIteration:
    again = True
stream.cancel()
result = [pb_utils.InferenceResponse(parameters={"seen": json.dumps(seen), "again": again})]
"""
        server = self.program(code)
        call = server.call()
        self.assertTrue(call["decoupled"])
        server.result(call, RESPONSE, last=False, tensors=[("A", np.array([1]))])
        server.result(call, last=False, error=(1, "bad"))
        server.result(call, last=True)
        seen = [[[1]], "bad", "empty"]
        self.assertEqual({"seen": json.dumps(seen), "again": True}, self.parameters(server))

        server = self.program(code, server)
        server.result(server.call(), RESPONSE, last=True, tensors=[("A", np.array([5]))])
        self.assertEqual([[[5]]], json.loads(self.parameters(server)["seen"]))

    def test_cancels_a_stream(self):
        code = """
call = pb_utils.InferenceRequest(model_name="other", inputs=[], requested_output_names=[])
stream = call.exec(decoupled=True)
next(stream)
stream.cancel()
stream.cancel()
error = next(stream).error()
result = [pb_utils.InferenceResponse(parameters={"cancelled": error.code() == pb_utils.TritonError.CANCELLED})]
"""
        server = self.program(code)
        call = server.call()
        server.result(call, RESPONSE, last=False)
        cancel = server.call()
        self.assertEqual((CANCEL, call["call"]), (cancel["method"], cancel["number"]))
        server.result(call, error=(7, "cancelled"))
        self.assertEqual({"cancelled": True}, self.parameters(server))

    def test_lets_go_of_a_stream_that_nobody_reads(self):
        code = """
call = pb_utils.InferenceRequest(model_name="other", inputs=[], requested_output_names=[])
next(call.exec(decoupled=True))
pb_utils.is_model_ready("here")
pb_utils.is_model_ready("there")
result = [pb_utils.InferenceResponse([])]
"""
        server = self.program(code)
        call = server.call()
        server.result(call, RESPONSE, last=False, tensors=[("A", np.zeros(3))])
        ready = server.call()
        server.result(call, RESPONSE, last=False, tensors=[("A", np.zeros(3))])
        server.result(call, RESPONSE, last=True, tensors=[("A", np.zeros(3))])
        server.result(ready, value=1.0)
        server.result(server.call(), value=1.0)
        self.assertIn("responses", server.ran())
        self.assertEqual({}, server.requests.used)

    def test_calls_from_coroutines_and_threads(self):
        server = self.serve(
            """
            import asyncio
            import numpy as np
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                async def execute(self, requests):
                    def call(index, decoupled):
                        tensor = pb_utils.Tensor("IN", np.array([index]))
                        request = pb_utils.InferenceRequest(
                            model_name="other", inputs=[tensor], requested_output_names=[])
                        return request.async_exec(decoupled=decoupled)
                    answers = await asyncio.gather(*[call(index, False) for index in range(4)])
                    stream = await call(9, True)
                    values = [answer.output_tensors()[0].as_numpy()[0] for answer in answers + list(stream)]
                    return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(values))])]
            """
        )

        def double(server, call):
            server.result(call, RESPONSE, tensors=[("OUT", call["tensors"]["IN"] * 2)])

        server.answer = double
        for _ in range(5):
            self.assertEqual([0, 2, 4, 6, 18], server.infer({})["outputs"]["OUT"].tolist())

    def test_calls_from_a_thread_while_the_main_thread_reads(self):
        code = """
def call():
    # The test opens this pipe when the run has ended.
    open(request.request_id()).close()
    for _ in range(20):
        assert pb_utils.is_model_ready("other", "2")
    sender.send(pb_utils.InferenceResponse([]), flags=1)
sender = request.get_response_sender()
threading.Thread(target=call).start()
"""
        pipe = str(self.repository.root / "pipe")
        os.mkfifo(pipe)
        server = self.serve(PROGRAM)
        server.execute({"inputs": {"CODE": [code.encode()]}, "id": pipe})
        self.assertEqual([None], server.ran()["responses"])
        open(pipe, "w").close()
        for _ in range(20):
            call = server.call()
            self.assertEqual((READY, "other", "2"), (call["method"], call["model"], call["version"]))
            server.result(call, value=1.0)
        self.assertIsNone(server.sent()["response"]["error"])
        server.execute({"inputs": {"CODE": [b"result = [pb_utils.InferenceResponse([])]"]}})
        self.assertIn("responses", server.ran())

    def test_asks_whether_a_request_is_cancelled(self):
        code = """
seen = [request.is_cancelled(), request.get_response_sender().is_cancelled(), request.is_cancelled()]
result = [pb_utils.InferenceResponse(parameters={"seen": str(seen)})]
"""
        server = self.serve(PROGRAM)
        numbers = server.execute({"inputs": {"CODE": [code.encode()]}})
        for value in (0.0, 1.0):
            call = server.call()
            self.assertEqual((CANCELLED, numbers[0]), (call["method"], call["number"]))
            server.result(call, value=value)
        self.assertEqual({"seen": "[False, True, True]"}, self.parameters(server))

    def test_loads_and_unloads_models(self):
        code = """
pb_utils.load_model("a")
pb_utils.load_model(model_name="b", config='{"x": 1}', files={"file:1/m": b"\\x00\\xff"})
pb_utils.unload_model("a")
pb_utils.unload_model("a", unload_dependents=True)
seen = [pb_utils.is_model_ready("a"), pb_utils.is_model_ready("a", "1")]
errors = []
for function in (pb_utils.load_model, pb_utils.unload_model, pb_utils.is_model_ready):
    try:
        function("c")
    except pb_utils.TritonModelException as error:
        errors.append(str(error))
for arguments in (("x", "", [1]),):
    try:
        pb_utils.load_model(*arguments)
    except pb_utils.TritonModelException as error:
        errors.append(str(error))
result = [pb_utils.InferenceResponse(parameters={"seen": str(seen), "errors": json.dumps(errors)})]
"""
        server = self.program(code)
        expected = [
            dict(method=LOAD, model="a", configuration="", files={}),
            dict(method=LOAD, model="b", configuration='{"x": 1}', files={"file:1/m": b"\x00\xff"}),
            dict(method=UNLOAD, model="a", dependents=False),
            dict(method=UNLOAD, model="a", dependents=True),
            dict(method=READY, model="a", version=""),
            dict(method=READY, model="a", version="1"),
        ]
        for index, call in enumerate(expected):
            came = server.call()
            server.result(came, value=None if index < 4 else float(index == 4))
            del came["call"]
            self.assertEqual(call, came)
        for _ in range(3):
            server.result(server.call(), error=(2, "unknown"))
        parameters = self.parameters(server)
        self.assertEqual("[True, False]", parameters["seen"])
        self.assertEqual(
            [
                "Failed to load model: unknown",
                "Failed to unload model: unknown",
                "Failed to check model readiness: unknown",
                "failed to load model 'x', files should be a dictionary of file paths and file contents",
            ],
            json.loads(parameters["errors"]),
        )

    def test_does_not_infer_outside_of_execute(self):
        call = "pb_utils.InferenceRequest(model_name='m', inputs=[], requested_output_names=[]).exec()"
        body = """
        import triton_python_backend_utils as pb_utils
        class TritonPythonModel:
            def initialize(self, args):
                {initialize}
            def finalize(self):
                {finalize}
        """
        server = self.start(body.format(initialize=call, finalize="pass"))
        expected = "TritonModelException: BLS is only supported during the 'execute' function."
        self.assertEqual(expected, server.started()["message"])
        server = self.serve(body.format(initialize="pass", finalize=call), name="other")
        self.assertEqual(expected, server.finish())

    def test_keeps_metrics(self):
        code = """
errors = []
def attempt(function, *arguments, **more):
    try:
        return function(*arguments, **more)
    except pb_utils.TritonModelException as error:
        errors.append(str(error))
F = pb_utils.MetricFamily
family = F(name="f", description="d", kind=F.COUNTER)
metric = family.Metric(labels={"a": "b"})
metric.increment(2)
value = metric.value()
attempt(metric.set, 1)
histogram = F("h", "d", F.HISTOGRAM)
attempt(histogram.Metric, {})
attempt(histogram.Metric, {}, (1,))
attempt(family.Metric, {}, [1.0])
attempt(family.Metric, 5)
bounds = histogram.Metric({}, [0.5, 1])
bounds.observe(0.7)
del family
attempt(metric.increment, 1)
result = [pb_utils.InferenceResponse(parameters={"value": str(value), "errors": json.dumps(errors)})]
"""
        server = self.program(code)
        expected = [
            (dict(method=FAMILY, name="f", description="d", kind=0), 11.0),
            (dict(method=METRIC, family=11, labels={"a": "b"}, buckets=[]), 12.0),
            (dict(method=CHANGE, metric=12, operation=0, value=2.0), None),
            (dict(method=VALUE, number=12), 2.5),
        ]
        for call, value in expected:
            came = server.call()
            server.result(came, value=value)
            del came["call"]
            self.assertEqual(call, came)
        server.result(server.call(), error=(5, "a counter cannot be set"))
        server.result(server.call(), value=13.0)
        came = server.call()
        self.assertEqual([0.5, 1.0], came["buckets"])
        server.result(came, value=14.0)
        came = server.call()
        self.assertEqual((CHANGE, 14, 2, 0.7), tuple(came[key] for key in ("method", "metric", "operation", "value")))
        server.result(came)
        drops = [server.call() for _ in range(2)]
        self.assertEqual([(DROP_METRIC, 12), (DROP_FAMILY, 11)], [(drop["method"], drop["number"]) for drop in drops])
        for drop in drops:
            server.result(drop)
        # The program's scope is gone after the run, and with it the histogram.
        while True:
            kind, body = server.events.get(timeout=30)
            if kind == 2:
                break
        body.take("Q"), body.take("B"), body.take("I"), body.take("B"), body.take("B")
        parameters = body.parameters()
        self.assertEqual("2.5", parameters["value"])
        errors = json.loads(parameters["errors"])
        self.assertEqual("Failed to set metric value: a counter cannot be set", errors[0])
        self.assertEqual("Failed to create metric. Missing required buckets.", errors[1])
        self.assertEqual("Failed to create metric. Buckets must be a list.", errors[2])
        self.assertEqual("Failed to create metric. Unexpected buckets found.", errors[3])
        self.assertEqual("Failed to create metric. Labels must be a dictionary.", errors[4])
        self.assertIn("Invalid metric operation as the corresponding 'MetricFamily' has been deleted.", errors[5])

    def test_makes_metrics_at_the_start(self):
        server = self.start(
            """
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def initialize(self, args):
                    self.family = pb_utils.MetricFamily("f", "d", pb_utils.MetricFamily.GAUGE)
                    self.metric = self.family.Metric()
                def execute(self, requests):
                    self.metric.set(4)
                    return [pb_utils.InferenceResponse([]) for _ in requests]
            """
        )
        server.answer = lambda server, call: server.result(call, value=3.0)
        self.assertEqual({"flags": 0}, server.started())
        for _ in range(3):
            self.assertIsNone(server.infer({})["error"])
        self.assertEqual("", server.finish())


if __name__ == "__main__":
    unittest.main()
