# SPDX-License-Identifier: Apache-2.0
"""Responses that models send by themselves, from execute and from other threads."""

import unittest

import numpy as np
from harness import ModelTest
from test_execute import PROGRAM

FINAL = 1

REPEAT = """
import threading
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def initialize(self, args):
        self.threads = []

    def execute(self, requests):
        for request in requests:
            count = int(request.inputs()[0].as_numpy()[0])
            thread = threading.Thread(target=self.answer, args=(request.get_response_sender(), count))
            self.threads.append(thread)
            thread.start()
        return None

    def answer(self, sender, count):
        for index in range(count):
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("INDEX", np.array([index], np.int32))]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def finalize(self):
        for thread in self.threads:
            thread.join()
"""


class SenderTest(ModelTest):
    def events(self, server, numbers):
        """All that comes until every request of a run has ended: whether RAN came, and each request's responses."""
        answers = {number: [] for number in numbers}
        open_requests = set(numbers)
        ran = None
        while open_requests or ran is None:
            kind, body = server.events.get(timeout=30)
            if kind == 2:
                body.take("Q")
                self.assertEqual(1, body.take("B"))
                ran = [body.take("B") for _ in range(body.take("I"))]
                continue
            self.assertEqual(3, kind)
            number, flags = body.take("Q"), body.take("I")
            if body.take("?"):
                answers[number].append(server.response(body))
            body.end()
            if flags == FINAL:
                open_requests.remove(number)
        return ran, answers

    def test_sends_from_threads(self):
        server = self.serve(REPEAT, decoupled=True)
        counts = [0, 1, 5, 200]
        numbers = server.execute(*[{"inputs": {"COUNT": np.array([count], "i4")}} for count in counts])
        ran, answers = self.events(server, numbers)
        self.assertEqual([1] * len(counts), ran)
        for number, count in zip(numbers, counts):
            self.assertEqual(list(range(count)), [int(answer["outputs"]["INDEX"][0]) for answer in answers[number]])
        self.assertEqual("", server.finish())

    def program(self, code, decoupled, name="model"):
        server = self.serve(PROGRAM, name, decoupled=decoupled)
        numbers = server.execute({"inputs": {"CODE": [code.encode()]}})
        return server, numbers

    def errors(self, code, decoupled):
        """Runs code that collects the texts of errors in a list, and logs them."""
        whole = "sender = request.get_response_sender()\nerrors = []\n"
        whole += "def attempt(*args, **more):\n"
        whole += "    try:\n        sender.send(*args, **more)\n        errors.append('')\n"
        whole += "    except pb_utils.TritonModelException as error:\n        errors.append(str(error))\n"
        whole += "answer = pb_utils.InferenceResponse([])\n"
        whole += code + "\nfor error in errors:\n    pb_utils.Logger.log_info(error)\n"
        server, _ = self.program(whole, decoupled)
        sends = []
        while True:
            kind, body = server.events.get(timeout=30)
            if kind == 2:
                break
            sends.append(kind)
        return [record[1] for record in server.logs], sends

    def test_checks_what_a_decoupled_model_sends(self):
        code = """
attempt()
attempt(answer, 2)
attempt(answer)
attempt(answer, flags=0)
attempt(answer, flags=1)
attempt(answer)
attempt(flags=1)
"""
        errors, sends = self.errors(code, True)
        self.assertEqual(
            [
                "Inference Response object must be provided when the response flags is set to zero.",
                "Unable to send response. Unsupported flag provided.",
                "",
                "",
                "",
                "Unable to send response. Response sender has been closed.",
                "Unable to send response. Response sender has been closed.",
            ],
            errors,
        )
        self.assertEqual([3, 3, 3], sends)

    def test_checks_what_another_model_sends(self):
        errors, sends = self.errors("attempt(flags=1)\nattempt(answer)\nattempt(answer)\nattempt(flags=1)", False)
        self.assertEqual(
            [
                "Unable to send response. Non-decoupled model cannot send complete final before sending a response.",
                "",
                "Unable to send response. Non-decoupled model cannot send more than one response.",
                "",
            ],
            errors,
        )
        self.assertEqual([3, 3], sends)

    def test_refuses_a_return_after_a_send(self):
        code = "request.get_response_sender().send(pb_utils.InferenceResponse([]), flags=1); "
        code += "result = [pb_utils.InferenceResponse([])]"
        server, numbers = self.program(code, False)
        sent = server.sent()
        self.assertEqual((numbers[0], FINAL), (sent["request"], sent["flags"]))
        self.assertTrue(
            server.ran()["message"].endswith(
                "message: Unable to send response. Non-decoupled model cannot send more than one response."
            )
        )

    def test_refuses_a_return_of_a_decoupled_model(self):
        server, _ = self.program("result = [pb_utils.InferenceResponse([])]", True)
        self.assertEqual(
            "Failed to process the request(s) for model 'model_0_0', message: Python model 'model_0_0' is using the "
            "decoupled mode and the execute function must return None.",
            server.ran()["message"],
        )

    def test_closes_senders_of_a_failed_run(self):
        code = """
sender = request.get_response_sender()
model.sender = sender
raise ValueError("x")
"""
        server, _ = self.program(code, True)
        self.assertIn("ValueError: x", server.ran()["message"])
        again = """
try:
    model.sender.send(flags=1)
except pb_utils.TritonModelException as error:
    pb_utils.Logger.log_info(str(error))
request.get_response_sender().send(flags=1)
"""
        server.execute({"inputs": {"CODE": [again.encode()]}})
        self.assertEqual(FINAL, server.sent()["flags"])
        server.ran()
        self.assertEqual(["Unable to send response. Response sender has been closed."], [r[1] for r in server.logs])

    def test_answers_for_a_model_that_is_not_decoupled_after_execute_returned(self):
        code = """
def answer(sender):
    model.go.wait()
    sender.send(pb_utils.InferenceResponse([]), flags=1)
model.go = threading.Event()
threading.Thread(target=answer, args=(request.get_response_sender(),)).start()
"""
        server, numbers = self.program(code, False)
        self.assertEqual([None], server.ran()["responses"])
        server.execute({"inputs": {"CODE": [b"model.go.set(); result = [pb_utils.InferenceResponse([])]"]}})
        kinds = {server.events.get(timeout=30)[0] for _ in range(2)}
        self.assertEqual({2, 3}, kinds)

    def test_ends_requests_that_nobody_can_answer_any_more(self):
        server, numbers = self.program("request.get_response_sender()", False)
        sent = server.sent()
        self.assertEqual([None], server.ran()["responses"])
        self.assertEqual((numbers[0], FINAL), (sent["request"], sent["flags"]))
        self.assertEqual((1, "the model dropped the request without a response"), sent["response"]["error"])

        code = "request.get_response_sender().send(pb_utils.InferenceResponse([]))"
        server, numbers = self.program(code, True, "other")
        self.assertEqual(0, server.sent()["flags"])
        self.assertEqual({"request": numbers[0], "flags": FINAL, "response": None}, server.sent())
        self.assertEqual([None], server.ran()["responses"])

    def test_sends_and_runs_again(self):
        code = """
request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
request.get_response_sender().send(pb_utils.InferenceResponse([]))
"""
        server, _ = self.program(code, True)
        self.assertEqual(0, server.sent()["flags"])
        self.assertEqual(["again"], server.ran()["responses"])
        server.execute({"inputs": {"CODE": [b"request.get_response_sender().send(flags=1)"]}})
        self.assertEqual(FINAL, server.sent()["flags"])

    def test_runs_coroutines_of_a_decoupled_model_side_by_side(self):
        server = self.serve(
            """
            import asyncio
            import numpy as np
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def initialize(self, args):
                    self.second = None
                async def execute(self, requests):
                    first = self.second is None
                    if first:
                        self.second = asyncio.Event()
                        await self.second.wait()
                    sender = requests[0].get_response_sender()
                    sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([first]))]), flags=1)
                    self.second.set()
                    if not first:
                        raise ValueError("after the end")
            """,
            decoupled=True,
        )
        first = server.execute({"inputs": {}})
        self.assertEqual([None], server.ran()["responses"])
        second = server.execute({"inputs": {}})
        answers = []
        while len(answers) < 2:
            kind, body = server.events.get(timeout=30)
            if kind == 3:
                answers.append(body.take("Q"))
        self.assertEqual(second + first, answers)
        server.wait(lambda: server.logs)
        self.assertEqual(0, server.logs[0][0])
        self.assertIn("ValueError: after the end", server.logs[0][1])

    def test_prunes_outputs(self):
        code = "outputs = [pb_utils.Tensor(n, np.ones(1)) for n in 'XYZ']\n"
        code += "request.get_response_sender().send(pb_utils.InferenceResponse(outputs), flags=1)"
        server = self.serve(PROGRAM, decoupled=True)
        server.execute({"inputs": {"CODE": [code.encode()]}, "outputs": ["Y"]})
        self.assertEqual(["Y"], list(server.sent()["response"]["outputs"]))


if __name__ == "__main__":
    unittest.main()
