// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelOverride;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The repository agent {@code checksum}. */
@Timeout(60)
class ModelChecksumsTest {
    private static final String TENSORS = """
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;

    /** MD5 of "weights", as md5sum tells it. */
    private static final String MD5 = "63f4f1e9b725370f459720575cd5f953";

    @TempDir
    Path repository;

    private TestServer test;

    @BeforeEach
    void open() {
        test = new TestServer(repository);
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT));
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
    }

    private void model(String agents) {
        test.model("m", "backend: \"scripted\" " + TENSORS + " model_repository_agents { " + agents + " }");
        test.file("m/1/model", "weights");
    }

    private static String checksum(String key, String value) {
        return "agents { name: \"checksum\" parameters { key: \"" + key + "\" value: \"" + value + "\" } }";
    }

    private void load() {
        test.server().load("m", ModelOverride.NONE);
    }

    @ParameterizedTest
    @CsvSource({"MD5:1/model", "md5:1/model", "MD5:./1/model"})
    void shouldLoadAModelWhoseFilesHaveTheirChecksums(String key) {
        model(checksum(key, MD5));
        load();
        assertThat(test.index()).containsExactly("m 1 READY");
    }

    @Test
    void shouldSayWhichFileHasAnotherChecksum() {
        String other = "0".repeat(32);
        model(checksum("MD5:1/model", other));

        assertThatThrownBy(this::load)
                .hasMessageContaining("Mismatched MD5 hash for file 1/model, expect: " + other + ", got: " + MD5);
        assertThat(test.backend.open).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1/model | failed to parse key: 1/model; expected MD5: and a file, such as MD5:1/model.onnx",
                "SHA256:1/model | Unsupported checksum algorithm: SHA256; expected MD5",
                "MD5:../other/1/model | is to read '../other/1/model', which may lead out of the model's folder",
                "MD5:/etc/passwd | is to read '/etc/passwd', which may lead out of the model's folder",
                "MD5: | is to read '', which may lead out of the model's folder",
                "MD5:1/absent | the checksum of '1/absent' cannot be compared, since the file cannot be read",
                "MD5:1 | the checksum of '1' cannot be compared, since the file cannot be read",
            })
    void shouldRefuseWhatItCannotCheck(String key, String failure) {
        model(checksum(key, MD5));
        assertThatThrownBy(this::load).hasMessageContaining(failure);
    }

    @Test
    void shouldRefuseOtherAgents() {
        model("agents { name: \"relocation\" }");
        assertThatThrownBy(this::load)
                .hasMessageContaining("there is no repository agent 'relocation', which the configuration names; known:"
                        + " checksum. Have the model's files put where they are served before");
    }

    @Test
    void shouldRefuseAModelWhoseFileIsReplacedWhileItIsLoaded() {
        model(checksum("MD5:1/model", MD5));
        test.backend.beforeLoad = () -> replace("others");

        assertThatThrownBy(this::load).hasMessageContaining("Mismatched MD5 hash for file 1/model");
        assertThat(test.backend.open).hasValue(0);
    }

    @Test
    void shouldLoadAModelWhoseFileIsReplacedByTheSameContent() {
        model(checksum("MD5:1/model", MD5));
        test.backend.beforeLoad = () -> replace("weights");
        load();
        assertThat(test.index()).containsExactly("m 1 READY");
    }

    private void replace(String content) {
        try {
            Path next = Files.writeString(repository.resolve("next"), content);
            Files.move(next, repository.resolve("m/1/model"), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldCheckTheFilesOfARequestByTheOperatorsChecksums() {
        model(checksum("MD5:1/model", MD5));
        ModelOverride right = new ModelOverride("{}", Map.of("1/model", bytes("weights")));
        ModelOverride wrong = new ModelOverride("{}", Map.of("1/model", bytes("others")));

        assertThatThrownBy(() -> test.server().load("m", wrong))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("Mismatched MD5 hash for file 1/model");
        assertThatThrownBy(() -> test.server()
                        .load(
                                "m",
                                new ModelOverride(
                                        "{\"model_repository_agents\":{\"agents\":[{\"name\":\"x\"}]}}", Map.of())))
                .hasMessageContaining("'model_repository_agents' of the request's configuration");
        test.server().load("m", right);
        assertThat(test.index()).containsExactly("m 1 READY");
    }

    private static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }
}
