// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Python;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TorchScript models, run by the PyTorch of the distribution's Python. */
@Timeout(240)
class TorchScriptIT {

    /** Writes the models of these tests into the folder that it is told. */
    private static final String MODELS = """
            import os, sys, torch

            class AddSub(torch.nn.Module):
                def forward(self, a, b):
                    return a + b, a - b

            class Named(torch.nn.Module):
                def forward(self, left: torch.Tensor, right: torch.Tensor):
                    return {"DIFFERENCE": left - right, "ROWS": torch.full((left.shape[0], 1), left.shape[0])}

            class Fails(torch.nn.Module):
                def forward(self, a):
                    return a.reshape(7, 7)

            class Sum(torch.nn.Module):
                def forward(self, value, start, state):
                    total = value + torch.where(start != 0, torch.zeros_like(state), state)
                    return total * 10, total

            modules = {"add_sub": AddSub(), "named": Named(), "fails": Fails(), "sum": Sum()}
            for name, module in modules.items():
                folder = os.path.join(sys.argv[1], name, "1")
                os.makedirs(folder)
                torch.jit.script(module).save(os.path.join(folder, "model.pt"))
            """;

    @TempDir
    private static Path folder;

    @SuppressWarnings("NullAway.Init") // by open
    private static String executable;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static ServerProcess server;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static HttpApi http;

    private static void config(String model, String text) throws IOException {
        Files.writeString(folder.resolve(model).resolve("config.pbtxt"), text);
    }

    @BeforeAll
    static void open(@TempDir Path scripts) throws Exception {
        // A file, since TorchScript reads the source of what it compiles.
        Path script = Files.writeString(scripts.resolve("models.py"), MODELS);
        String python = Python.with("numpy", "torch");
        executable = "--backend-config=pytorch,executable=" + python;
        Process maker = new ProcessBuilder(python, script.toString(), folder.toString())
                .inheritIO()
                .start();
        assertThat(maker.waitFor()).as("python3-torch is installed").isZero();
        config(
                "add_sub",
                "platform: \"pytorch_libtorch\"\n" + input("INPUT__0", "FP32", "4") + input("INPUT__1", "FP32", "4")
                        + output("OUTPUT__0", "FP32", "4") + output("OUTPUT__1", "FP32", "4"));
        config(
                "named",
                "backend: \"pytorch\" max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 2000000"
                        + " preferred_batch_size: [3] } instance_group { count: 1 }\n"
                        + input("right", "INT64", "2") + input("left", "INT64", "2")
                        + output("DIFFERENCE", "INT64", "2") + output("ROWS", "INT64", "1"));
        config("fails", input("INPUT__0", "FP32", "4") + output("OUTPUT__0", "FP32", "4"));
        config(
                "sum",
                "platform: \"pytorch_libtorch\" max_batch_size: 4\n" + input("INPUT__0", "INT32", "1")
                        + output("OUTPUT__0", "INT32", "1") + """
                        sequence_batching {
                          control_input { name: "START__1" control { kind: CONTROL_SEQUENCE_START
                                          int32_false_true: [ 0, 1 ] } }
                          state { input_name: "STATE__2" output_name: "STATE__1" data_type: TYPE_INT32 dims: 1 }
                        }
                        """);
        server = ServerProcess.launch(folder, executable);
        server.expectErrors();
        http = new HttpApi(server);
    }

    @Test
    void shouldFindTensorsByTheNumbersInTheirNames() {
        assertThat(http.post("/v2/models/add_sub/infer", """
                        {"inputs": [{"name": "INPUT__1", "datatype": "FP32", "shape": [4], "data": [1, 1, 1, 1]},
                                    {"name": "INPUT__0", "datatype": "FP32", "shape": [4], "data": [5, 6, 7, 8]}]}""").body())
                .contains("\"data\":[6.0,7.0,8.0,9.0]", "\"data\":[4.0,5.0,6.0,7.0]");
    }

    @Test
    void shouldFindTensorsByTheNamesOfForwardAndRunABatchAtOnce() {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String request = """
                    {"inputs": [{"name": "left", "datatype": "INT64", "shape": [1, 2], "data": [%d, 10]},
                                {"name": "right", "datatype": "INT64", "shape": [1, 2], "data": [1, 1]}]}""".formatted(i);
            answers.add(CompletableFuture.supplyAsync(() -> http.post("/v2/models/named/infer", request)));
        }
        for (int i = 0; i < 3; i++) {
            // Each of the three knows that they were three.
            assertThat(answers.get(i).join().body()).contains("\"data\":[" + (i - 1) + ",9]", "\"data\":[3]");
        }
    }

    @Test
    void shouldGiveForwardTheControlsAndTheStateOfASequence() {
        List<String> answers = new ArrayList<>();
        for (int value = 1; value <= 3; value++) {
            answers.add(http.post("/v2/models/sum/infer", """
                    {"parameters": {"sequence_id": 7, "sequence_start": %b, "sequence_end": %b},
                     "inputs": [{"name": "INPUT__0", "datatype": "INT32", "shape": [1, 1], "data": [%d]}]}""".formatted(value == 1, value == 3, value))
                    .body());
        }
        assertThat(answers.get(0)).contains("\"OUTPUT__0\"", "\"data\":[10]");
        assertThat(answers.get(1)).contains("\"data\":[30]");
        assertThat(answers.get(2)).contains("\"data\":[60]");
    }

    @Test
    void shouldTellWhatPyTorchSays() {
        HttpResponse<String> response = http.post("/v2/models/fails/infer", """
                {"inputs": [{"name": "INPUT__0", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}]}""");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("PyTorch execute failure", "shape '[7, 7]' is invalid");
    }

    @Test
    void shouldSayWhatIsMissing(@TempDir Path other) throws Exception {
        Path model = Files.createDirectories(other.resolve("models/m/1")).getParent();
        Files.writeString(model.resolve("1/model.pt"), "no model");
        Files.writeString(
                model.resolve("config.pbtxt"),
                "backend: \"pytorch\"\n" + input("INPUT__0", "FP32", "4") + output("OUTPUT__0", "FP32", "4"));
        Path python = other.resolve("python3");
        Files.writeString(python, "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\"\nexit 1\n");
        assertThat(python.toFile().setExecutable(true)).isTrue();
        try (ServerProcess without = ServerProcess.launch(
                        other.resolve("models"),
                        "--exit-on-error=false",
                        "--backend-config=pytorch,executable=" + python);
                HttpApi api = new HttpApi(without)) {
            without.expectErrors();
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("backend pytorch needs Python 3.9 or newer with numpy and torch")
                    .contains("No module named 'torch'", "apt-get install python3-numpy python3-torch");
        }
        for (List<String> both : List.of(List.of("FP32", "UINT32"), List.of("UINT64", "FP32"))) {
            Path odd = Files.createDirectories(other.resolve("odd/" + both.get(0) + "/1"))
                    .getParent();
            Files.copy(folder.resolve("add_sub/1/model.pt"), odd.resolve("1/model.pt"));
            Files.writeString(
                    odd.resolve("config.pbtxt"),
                    "backend: \"pytorch\"\n" + input("INPUT__0", both.get(0), "4")
                            + output("OUTPUT__0", both.get(1), "4"));
        }
        try (ServerProcess with = ServerProcess.launch(other.resolve("odd"), "--exit-on-error=false", executable);
                HttpApi api = new HttpApi(with)) {
            with.expectErrors();
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("unsupported datatype TYPE_UINT32 for output 'OUTPUT__0' for model 'FP32'")
                    .contains("unsupported datatype TYPE_UINT64 for input 'INPUT__0' for model 'UINT64'");
        }
        try (ServerProcess with = ServerProcess.launch(other.resolve("models"), "--exit-on-error=false", executable);
                HttpApi api = new HttpApi(with)) {
            with.expectErrors();
            assertThat(api.post("/v2/repository/index", "").body()).contains("UNAVAILABLE", "RuntimeError");
        }
    }
}
