// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A request that finds its model just before somebody unloads it hears of the model, and not of a server that stops.
 */
@Timeout(60)
class UnloadRaceTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;

    @TempDir
    Path repository;

    private TestServer test;

    @BeforeEach
    void open() {
        test = new TestServer(repository);
        test.model("m", MODEL);
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("m")));
    }

    @AfterEach
    void close() {
        test.close();
    }

    private void assertHears(boolean anyVersion, ErrorCode code, String text) {
        InferenceRequest request = test.input(test.request("m"), "IN", 1);
        request.anyVersion(anyVersion);
        test.server().unload("m", false);

        assertThatThrownBy(() -> test.server().infer(request))
                .hasMessage(text)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code));
        assertThat(test.server().buffers().usedBytes()).isZero();
    }

    @Test
    void shouldTellThatNoVersionIsThere() {
        assertHears(true, ErrorCode.NOT_FOUND, "Request for unknown model: 'm' has no available versions");
    }

    @Test
    void shouldTellThatTheVersionIsNotReady() {
        assertHears(false, ErrorCode.UNAVAILABLE, "Request for unknown model: 'm' version 1 is not at ready state");
    }
}
