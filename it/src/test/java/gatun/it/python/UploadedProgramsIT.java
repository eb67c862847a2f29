// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A load request that brings a program runs it only where the operator allows it. */
@Timeout(120)
class UploadedProgramsIT {
    private static final String CONFIG = "{\\\"backend\\\":\\\"python\\\","
            + "\\\"input\\\":[{\\\"name\\\":\\\"X\\\",\\\"data_type\\\":\\\"TYPE_FP32\\\",\\\"dims\\\":[-1]}],"
            + "\\\"output\\\":[{\\\"name\\\":\\\"Y\\\",\\\"data_type\\\":\\\"TYPE_FP32\\\",\\\"dims\\\":[-1]}]";
    private static final String REQUEST =
            "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[4]}]}";

    @TempDir
    private Path repository;

    /** Programs leave a file here as soon as they are read. */
    @TempDir
    private Path traces;

    @BeforeEach
    void write() {
        new PythonModels(repository).write("own", input("X", "FP32", "-1") + output("Y", "FP32", "-1"), program("own"));
    }

    private String program(String name) {
        return """
                import pathlib
                import triton_python_backend_utils as pb_utils
                pathlib.Path("%s").touch()

                class TritonPythonModel:
                    def execute(self, requests):
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", r.inputs()[0].as_numpy() + 1)])
                                for r in requests]
                """.formatted(traces.resolve(name));
    }

    private ServerProcess launch(String... more) throws InterruptedException {
        List<String> flags = new ArrayList<>(
                List.of("--model-control-mode=explicit", "--load-model=own", PythonModels.executable()));
        flags.addAll(List.of(more));
        return ServerProcess.launch(repository, flags.toArray(String[]::new));
    }

    private HttpResponse<String> upload(HttpApi http, String model) {
        String file = Base64.getEncoder().encodeToString(program(model).getBytes(StandardCharsets.UTF_8));
        return load(http, model, "\"config\":\"" + CONFIG + "}\",\"file:1/model.py\":\"" + file + "\"");
    }

    private static HttpResponse<String> load(HttpApi http, String model, String parameters) {
        return http.post("/v2/repository/models/" + model + "/load", "{\"parameters\":{" + parameters + "}}");
    }

    @Test
    void shouldNotRunAProgramOfARequest() throws Exception {
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            HttpResponse<String> uploaded = upload(http, "stranger");
            assertThat(uploaded.statusCode()).as(uploaded.body()).isBetween(400, 501);
            assertThat(uploaded.body()).contains("'stranger'", "programs", "allow uploads");
            assertThat(traces.resolve("stranger")).doesNotExist();

            // The same under the name of a model that serves, and a configuration that names a Python to run.
            assertThat(upload(http, "own").body()).contains("allow uploads");
            String environment =
                    ",\\\"parameters\\\":{\\\"EXECUTION_ENV_PATH\\\":{\\\"string_value\\\":\\\"" + traces + "\\\"}}}";
            assertThat(load(http, "own", "\"config\":\"" + CONFIG + environment + "\"")
                            .body())
                    .contains("parameter 'EXECUTION_ENV_PATH'");

            // What the operator put there goes on, and may be loaded again.
            assertThat(http.post("/v2/models/own/infer", REQUEST).body()).contains("\"data\":[5.0]");
            assertThat(load(http, "own", "").statusCode()).isEqualTo(200);
            assertThat(http.post("/v2/models/own/infer", REQUEST).body()).contains("\"data\":[5.0]");
        }
    }

    @Test
    void shouldRunAProgramOfARequestWhereTheOperatorAllowsIt() throws Exception {
        try (ServerProcess server = launch("--backend-config=python,allow-uploads=true");
                HttpApi http = new HttpApi(server)) {
            HttpResponse<String> uploaded = upload(http, "stranger");
            assertThat(uploaded.statusCode()).as(uploaded.body()).isEqualTo(200);
            assertThat(Files.exists(traces.resolve("stranger"))).isTrue();
            assertThat(http.post("/v2/models/stranger/infer", REQUEST).body()).contains("\"data\":[5.0]");
        }
    }
}
