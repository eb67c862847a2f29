// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ControlMode;
import gatun.runtime.ModelOverride;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server for each test whose models are loaded by name; all must be closed at its end. */
abstract class ExplicitControl {
    static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;

    @TempDir
    Path repository;

    TestServer test;

    @BeforeEach
    void prepare() {
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
    }

    /** Starts the server with some of the repository's models loaded. */
    void open(String... names) {
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of(names)));
    }

    List<String> index() {
        return test.index();
    }

    void load(String name) {
        test.server().load(name, ModelOverride.NONE);
    }

    void infer(String model) {
        test.server().infer(test.input(test.request(model), "IN", 1)).close();
    }
}
