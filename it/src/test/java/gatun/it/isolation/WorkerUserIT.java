// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import static gatun.it.isolation.FragileModels.parameter;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.Python;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Models whose processes run as the user nobody. Where this is run by root they do; where it is not they are refused,
 * with the reason.
 */
@Timeout(180)
class WorkerUserIT {
    private static final String USER = parameter("isolation_user", "nobody");

    /** The number of the user nobody and of its group. */
    private static final int NOBODY = 65534;

    private static final String TENSORS = """
            input { name: "X" data_type: TYPE_INT64 dims: [-1] }
            output { name: "Y" data_type: TYPE_INT64 dims: [-1] }
            """;

    /** Tells the number of its user, and whether it can read of the server what only the server's user may. */
    private static final String WHO = """
            import os
            import numpy as np
            import triton_python_backend_utils as pb_utils

            def reads(path):
                try:
                    with open(path, "rb") as file:
                        return len(file.read(1))
                except OSError:
                    return 0

            class TritonPythonModel:
                @staticmethod
                def auto_complete_config(config):
                    assert os.getuid() == os.stat("/proc/self").st_uid != 0, "completed as root"
                    return config

                def execute(self, requests):
                    told = [os.getuid(), reads(f"/proc/{os.getppid()}/environ"), reads("/proc/self/environ")]
                    return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", np.array(told, np.int64))])
                            for _ in requests]
            """;

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(WorkerUserIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path version = model("who", "python", "");
        Files.writeString(version.resolve("model.py"), WHO);
        model("engine", "identity", parameter("isolation", "process"));
        model("shared", "identity", parameter("isolation", "process") + parameter("isolation_scope", "model"));
        return ServerProcess.launch(
                folder,
                "--model-control-mode=explicit",
                "--isolate=identity",
                "--backend-config=python,executable=" + Python.with("numpy"));
    }

    private static Path model(String name, String backend, String more) throws IOException {
        Path version = Files.createDirectories(folder.resolve(name).resolve("1"));
        Files.writeString(
                folder.resolve(name).resolve("config.pbtxt"),
                "backend: \"" + backend + "\"\n" + TENSORS + USER + more + "instance_group { count: 2 }\n");
        return version;
    }

    private static boolean isRoot() {
        return uid(ProcessHandle.current()) == 0;
    }

    /** The number of the user of a process; -1 when it has ended. */
    private static int uid(ProcessHandle process) {
        try {
            return (int) Files.getAttribute(Path.of("/proc", Long.toString(process.pid())), "unix:uid");
        } catch (IOException e) {
            return -1;
        }
    }

    /** Whether the program of an engine's process is one that nobody can read, as it is not in root's own folder. */
    private static boolean isOpenToNobody() throws Exception {
        Process process = new ProcessBuilder(
                        "setpriv",
                        "--reuid=" + NOBODY,
                        "--regid=" + NOBODY,
                        "--clear-groups",
                        "sh",
                        "-c",
                        "\"$0\" -version && cat \"$1\"/*.jar",
                        server.process().handle().info().command().orElseThrow(),
                        ServerProcess.root().resolve("server/target/gatun/lib").toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return process.exitValue() == 0;
    }

    private static HttpResponse<String> load(String model) {
        return http.post("/v2/repository/models/" + model + "/load", "{}");
    }

    private static void assertRefused(HttpResponse<String> loaded) {
        assertThat(loaded.statusCode()).isNotEqualTo(200);
        assertThat(loaded.body())
                .contains("parameter 'isolation_user' is 'nobody', but only a server that runs as root can start"
                        + " processes of other users");
    }

    private static String infer(String model) {
        return http.post(
                        "/v2/models/" + model + "/infer",
                        "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"INT64\",\"shape\":[2],\"data\":[5,6]}]}")
                .body();
    }

    @Test
    void shouldRunAPythonModelAsAnotherUser() {
        HttpResponse<String> loaded = load("who");
        if (!isRoot()) {
            assertRefused(loaded);
            return;
        }
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(infer("who")).contains("\"data\":[" + NOBODY + ",0,1]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "shared"})
    void shouldRunAnEngineAsAnotherUser(String model) throws Exception {
        HttpResponse<String> loaded = load(model);
        if (!isRoot()) {
            assertRefused(loaded);
            return;
        }
        if (!isOpenToNobody()) {
            assertThat(loaded.body()).contains("exited with status ");
            return;
        }
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(infer(model)).contains("\"data\":[5,6]");
        assertThat(server.process().handle().descendants().map(WorkerUserIT::uid))
                .contains(NOBODY);
        assertThat(http.post("/v2/repository/models/" + model + "/unload", "{}").statusCode())
                .isEqualTo(200);
    }
}
