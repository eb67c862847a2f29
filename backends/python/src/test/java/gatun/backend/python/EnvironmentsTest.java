// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.memory.tensor.GatunException;
import gatun.testing.Python;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnvironmentsTest {
    @TempDir
    Path folder;

    private Environments environments;
    private Path model;

    @BeforeEach
    void prepare() throws IOException {
        Interpreter standard = new Interpreter(
                Python.with("numpy"), Map.of(), folder.resolve("main.py"), new Interpreter.Need("python", "numpy"));
        environments = new Environments(standard, Files.createDirectory(folder.resolve("unpacked")));
        model = Files.createDirectories(folder.resolve("model"));
    }

    private static ModelConfig config(String place) {
        return ModelConfig.newBuilder()
                .setName("model")
                .putParameters(
                        "EXECUTION_ENV_PATH",
                        ModelParameter.newBuilder().setStringValue(place).build())
                .build();
    }

    /** An archive of a Python, which is a script that runs the usual one. */
    private Path archive(Path target) throws IOException, InterruptedException {
        Path python = Files.createDirectories(folder.resolve("environment/bin")).resolve("python3");
        Files.writeString(python, "#!/bin/sh\nexec " + Python.with("numpy") + " \"$@\"\n");
        assertThat(python.toFile().setExecutable(true)).isTrue();
        assertThat(new ProcessBuilder(
                                "tar",
                                "-czf",
                                target.toString(),
                                "-C",
                                folder.resolve("environment").toString(),
                                ".")
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
        return target;
    }

    @Test
    void shouldUnpackAnArchiveOnceUntilItChanges() throws IOException, InterruptedException {
        Path archive = archive(model.resolve("environment.tar.gz"));
        Path link = Files.createSymbolicLink(folder.resolve("link.tar.gz"), archive);

        String first = environments
                .of(config("$$TRITON_MODEL_DIRECTORY/environment.tar.gz"), model)
                .executable();
        String second = environments.of(config(link.toString()), model).executable();
        Files.move(archive(folder.resolve("next.tar.gz")), archive, StandardCopyOption.REPLACE_EXISTING);
        String third = environments.of(config("environment.tar.gz"), model).executable();

        assertThat(first)
                .isEqualTo(folder.resolve("unpacked/environment-0/bin/python3").toString());
        assertThat(second).isEqualTo(first);
        assertThat(third)
                .isEqualTo(folder.resolve("unpacked/environment-1/bin/python3").toString());
    }

    @Test
    void shouldUnpackAnArchiveInTheFilesOfAnotherProcess() throws IOException, InterruptedException {
        Path archive = archive(folder.resolve("environment.tar.gz"));
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        // Where only that process sees it, as the container with the model does in a pod of KServe.
        Process other = new ProcessBuilder(
                        "unshare",
                        "--mount",
                        "sh",
                        "-c",
                        "mount -t tmpfs none \"$1\" && cp \"$0\" \"$1\" && echo ready && exec cat",
                        archive.toString(),
                        mounted.toString())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))) {
            String line = said.readLine();
            assumeTrue("ready".equals(line), "no folder can be mounted for one process: " + line);
            Path link = Files.createSymbolicLink(
                    folder.resolve("models"), Path.of("/proc/" + other.pid() + "/root" + mounted));
            assertThat(mounted).isEmptyDirectory();

            Interpreter own = environments.of(config("$$TRITON_MODEL_DIRECTORY/environment.tar.gz"), link);

            assertThat(own.executable())
                    .isEqualTo(
                            folder.resolve("unpacked/environment-0/bin/python3").toString());
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldSayWhyAnArchiveCannotBeUnpacked() throws IOException {
        Files.writeString(model.resolve("environment.tar.gz"), "no archive");

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> environments.of(config("environment.tar.gz"), model))
                .withMessageContaining(
                        "environment " + model.resolve("environment.tar.gz") + " could not be unpacked: ")
                .withMessageContaining("tar: ");
    }

    @Test
    void shouldEndWhenItsThreadIsInterrupted() throws IOException, InterruptedException {
        archive(model.resolve("environment.tar.gz"));

        Thread.currentThread().interrupt();

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> environments.of(config("environment.tar.gz"), model))
                .withMessageContaining("it was interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }
}
