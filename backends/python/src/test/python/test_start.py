# SPDX-License-Identifier: Apache-2.0
"""How models are found, imported, completed, started and ended."""

import json
import unittest

from harness import ModelTest, model_configuration, tensor_configuration

COMPLETE = """
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
{body}
        return config
"""


class StartTest(ModelTest):
    def failure(self, code, **options):
        return self.start(code, name=f"model{self.count()}", **options).started()

    def count(self):
        self.counted = getattr(self, "counted", 0) + 1
        return self.counted

    def test_gives_initialize_its_arguments(self):
        server = self.start(
            """
            import json
            import triton_python_backend_utils as pb_utils
            class TritonPythonModel:
                def initialize(self, args):
                    raise ValueError(json.dumps([args, pb_utils.get_model_dir()]))
            """,
            version="3",
            instance="model_0_1",
        )
        message = server.started()["message"]
        self.assertTrue(message.startswith("ValueError: "), message)
        arguments, folder = json.loads(message[len("ValueError: ") :])
        root = str(self.repository.root / "model")
        self.assertEqual(
            {
                "model_config": json.dumps(model_configuration("model")),
                "model_instance_kind": "CPU",
                "model_instance_name": "model_0_1",
                "model_instance_device_id": "0",
                "model_repository": root,
                "model_version": "3",
                "model_name": "model",
            },
            arguments,
        )
        self.assertEqual(root + "/3", folder)

    def test_imports_what_lies_beside_the_model(self):
        server = self.serve(
            """
            import beside
            from . import relative
            from .package.inner import NAME
            class TritonPythonModel:
                def initialize(self, args):
                    assert (beside.NAME, relative.NAME, NAME) == ("beside", "relative", "inner")
                    assert __name__ == "1.model", __name__
            """,
            files={
                "beside.py": "NAME = 'beside'",
                "relative.py": "NAME = 'relative'",
                "package/__init__.py": "",
                "package/inner.py": "NAME = 'inner'",
            },
        )
        self.assertEqual("", server.finish())

    def test_serves_a_model_of_a_backend_s_folder(self):
        backend = self.repository.add("backend", "BACKEND = True\nclass TritonPythonModel:\n    pass\n", version="a.b")
        server = self.start("broken", file=str(backend / "a.b" / "model.py"))
        self.assertEqual({"flags": 0}, server.started())

    def test_says_where_an_error_of_syntax_is(self):
        answer = self.failure("class TritonPythonModel:\n    def execute(self, requests)\n        return 1\n")
        self.assertRegex(answer["message"], r"^SyntaxError: .*\(.*/1/model.py, line 2, column 32\)$")
        self.assertIn("SyntaxError", answer["traceback"])
        answer = self.failure("import helper", files={"helper.py": "x = = 1"})
        self.assertRegex(answer["message"], r"^SyntaxError: .*\(.*/1/helper.py, line 1, column 5\)$")

    def test_tells_why_a_model_does_not_start(self):
        answer = self.failure("import sys\nimport no_such_module_here")
        self.assertRegex(
            answer["message"],
            r"^ModuleNotFoundError: No module named 'no_such_module_here' \(/.*/1/model.py, line 2\)$",
        )
        self.assertIn("model.py", answer["traceback"])
        answer = self.failure("\nclass TritonPythonModel:\n    limit = undefined")
        self.assertRegex(answer["message"], r"^NameError: name 'undefined' is not defined \(/.*/1/model.py, line 3\)$")
        answer = self.failure("import helper", files={"helper.py": "import json\njson.loads('{')"})
        self.assertRegex(answer["message"], r"^JSONDecodeError: .* \(/.*/1/helper.py, line 2\)$")
        answer = self.failure("import shared", files={"../shared.py": "raise ImportError"})
        self.assertRegex(answer["message"], r"^ImportError \(/.*/shared.py, line 1\)$")
        answer = self.failure("x = 1")
        self.assertRegex(answer["message"], "^'.*model.py' has no class TritonPythonModel")
        answer = self.failure("class TritonPythonModel:\n    pass", file="/no/such/1/model.py")
        self.assertEqual("Python model file not found in '/no/such/1/model.py'", answer["message"])
        answer = self.failure("class TritonPythonModel:\n    pass", file="/no/such/1/model.txt")
        self.assertEqual("Model name must end with '.py'. Model name is \"model.txt\".", answer["message"])
        body = "class TritonPythonModel:\n    def initialize(self, args):\n        {}\n"
        for code, message in (
            ("raise KeyError('x')", "KeyError: 'x'"),
            ("import sys; sys.exit(4)", "SystemExit: the model called sys.exit(4)"),
            ("raise BaseException('b')", "BaseException: b"),
            ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ):
            server = self.start(body.format(code), name=f"model{self.count()}")
            self.assertEqual(message, server.started()["message"])
            self.assertEqual(0, server.process.wait(20))

    def test_finishes(self):
        body = "class TritonPythonModel:\n    def finalize(self):\n        {}\n"
        server = self.serve(body.format("print('finalized')"))
        self.assertEqual("", server.finish())
        self.assertEqual(0, server.process.wait(20))
        self.assertIn("finalized", server.printed())
        server = self.serve(body.format("raise ValueError('late')"), name="fails")
        self.assertEqual("ValueError: late", server.finish())
        server = self.serve(body.format("raise SystemExit"), name="exits")
        self.assertEqual("SystemExit: the model called sys.exit()", server.finish())
        self.assertEqual(0, server.process.wait(20))

    def test_ends_in_spite_of_threads_and_runs_exit_handlers(self):
        server = self.serve(
            """
            import atexit, threading
            atexit.register(print, "exit handler")
            class TritonPythonModel:
                def initialize(self, args):
                    threading.Thread(target=threading.Event().wait).start()
            """
        )
        self.assertEqual("", server.finish())
        self.assertEqual(0, server.process.wait(20))
        self.assertIn("exit handler", server.printed())

    def test_ends_after_a_frame_that_is_none(self):
        server = self.serve("class TritonPythonModel:\n    pass\n")
        server.to.write(b"\0\0\0\0")
        server.to.flush()
        self.assertEqual(3, server.process.wait(20))
        self.assertIn("a frame of the server has no kind", server.printed())

    def test_ends_with_the_server(self):
        server = self.serve("class TritonPythonModel:\n    pass\n")
        server.to.close()
        self.assertEqual(1, server.process.wait(20))


class CompleteTest(ModelTest):
    def complete(self, body, configuration=None):
        self.counted = getattr(self, "counted", 0) + 1
        code = COMPLETE.format(body="".join(f"        {line}\n" for line in body.splitlines()))
        configuration = configuration or model_configuration("m")
        answer = self.start(code, f"model{self.counted}", purpose=1, configuration=configuration).started()
        return answer.get("configuration") or answer["message"]

    def test_leaves_the_configuration_of_a_model_without_the_method(self):
        server = self.start("class TritonPythonModel:\n    pass\n", purpose=1)
        self.assertEqual(model_configuration("model"), server.started()["configuration"])
        self.assertEqual(0, server.process.wait(20))

    def test_completes(self):
        body = """
assert config.as_dict()["name"] == "m"
config.set_max_batch_size(4)
config.set_dynamic_batching()
config.add_input({"name": "A", "data_type": "TYPE_FP32", "dims": [4], "optional": True})
config.add_output({"name": "B", "data_type": "TYPE_INT8", "dims": [-1]})
config.set_model_transaction_policy({"decoupled": True})
"""
        self.assertEqual(
            {
                "name": "m",
                "max_batch_size": 4,
                "input": [{"name": "A", "data_type": "TYPE_FP32", "dims": [4], "optional": True}],
                "output": [{"name": "B", "data_type": "TYPE_INT8", "dims": [-1]}],
                "dynamic_batching": {},
                "model_transaction_policy": {"decoupled": True},
            },
            self.complete(body),
        )

    def test_logs_while_it_completes(self):
        body = "pb_utils.Logger.log_warn('look here')"
        code = COMPLETE.format(body=f"        {body}\n")
        server = self.start(code, purpose=1)
        self.assertEqual(model_configuration("model"), server.started()["configuration"])
        self.assertEqual(0, server.process.wait(20))
        self.assertRegex(server.printed(), "WARNING .*model.py:7 look here")

    def test_fills_what_is_open(self):
        open_input = {"name": "A", "data_type": "TYPE_INVALID", "dims": []}
        configuration = model_configuration("m", [open_input], dynamic_batching={"max_queue_delay_microseconds": 5})
        body = """
config.add_input({"name": "A", "data_type": "TYPE_FP32", "dims": [4]})
config.set_dynamic_batching()
"""
        completed = self.complete(body, configuration)
        self.assertEqual([{"name": "A", "data_type": "TYPE_FP32", "dims": [4]}], completed["input"])
        self.assertEqual({"max_queue_delay_microseconds": 5}, completed["dynamic_batching"])

    def test_refuses_contradictions(self):
        tensor = tensor_configuration("A", "TYPE_FP32", [4])
        configuration = model_configuration("m", [{**tensor, "optional": True}], [tensor])
        configuration["max_batch_size"] = 8
        sequences = model_configuration("m", sequence_batching={})
        decoupled = model_configuration("m", model_transaction_policy={"decoupled": True})
        function = "auto-complete-config function for model 'm'"
        for body, given, expected in (
            (
                "config.set_max_batch_size(4)",
                configuration,
                f"configuration specified max_batch_size 8, but in {function} specified max_batch_size 4",
            ),
            (
                "config.set_dynamic_batching()",
                sequences,
                f"Configuration specified scheduling_choice as 'sequence_batching', but {function} tries to set "
                "scheduling_choice as 'dynamic_batching'",
            ),
            (
                "config.add_input({'name': 'X', 'data_type': 'TYPE_FP32', 'dims': [1], 'is_shape_tensor': 1})",
                None,
                f"input 'X' in {function} contains property other than 'name', 'data_type', 'dims' and 'optional'.",
            ),
            (
                "config.add_output({'name': 'X', 'data_type': 'TYPE_FP32', 'dims': [1], 'optional': True})",
                None,
                f"output 'X' in {function} contains property other than 'name', 'data_type' and 'dims'.",
            ),
            ("config.add_input({'dims': [1]})", None, f"input in {function} is missing 'name' property."),
            ("config.add_output({'name': 'X'})", None, f"output 'X' in {function} is missing 'data_type' property."),
            (
                "config.add_input({'name': 'X', 'data_type': 'TYPE_FP32'})",
                None,
                f"input 'X' in {function} is missing 'dims' property.",
            ),
            (
                "config.add_input({'name': 'A', 'data_type': 'TYPE_INT8', 'dims': [4]})",
                configuration,
                "unable to load model 'm', configuration expects datatype TYPE_FP32 for input 'A', model provides "
                "TYPE_INT8",
            ),
            (
                "config.add_output({'name': 'A', 'data_type': 'TYPE_FP32', 'dims': [5]})",
                configuration,
                "model 'm', tensor 'A': the model expects dims [5] but the model configuration specifies dims [4]",
            ),
            (
                "config.add_input({'name': 'A', 'data_type': 'TYPE_FP32', 'dims': [4], 'optional': False})",
                configuration,
                "model 'm', tensor 'A': the model expects optional False but the model configuration specifies "
                "optional True",
            ),
            (
                "config.set_model_transaction_policy({'decoupled': True, 'x': 1})",
                None,
                f"model transaction property in {function} contains property other than 'decoupled'.",
            ),
            (
                "config.set_model_transaction_policy({'decoupled': False})",
                decoupled,
                "trying to change decoupled property in auto-complete-config for model 'm', which is already set to "
                "'True'.",
            ),
        ):
            with self.subTest(body):
                self.assertEqual("ValueError: " + expected, self.complete(body, given))

    def test_refuses_another_return(self):
        self.assertEqual(
            "auto_complete_config function in model 'model1_0_0' must return a valid pb.ModelConfig object.",
            self.complete("return None"),
        )
        self.assertEqual("RuntimeError: x", self.complete("raise RuntimeError('x')"))


if __name__ == "__main__":
    unittest.main()
