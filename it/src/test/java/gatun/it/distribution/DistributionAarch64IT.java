// SPDX-License-Identifier: Apache-2.0
package gatun.it.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The archive for aarch64, made on another machine as {@code mvn -Pdist package} makes it where there is a cross
 * compiler. What it has of native code runs in the emulator.
 */
class DistributionAarch64IT {
    private static final String COMPILER = "aarch64-linux-gnu-gcc";
    private static final Path EMULATOR = Path.of("/usr/bin/qemu-aarch64-static");
    private static final Path LIBRARIES = Path.of("/usr/aarch64-linux-gnu");

    /** What ELF calls the processor. */
    private static final int EM_AARCH64 = 183;

    @TempDir
    static Path folder;

    private static Path distribution;

    @BeforeAll
    static void makeAndUnpack() throws Exception {
        assumeThat(System.getProperty("os.arch"))
                .as("a machine that is not the archive's own")
                .isNotEqualTo("aarch64");
        assumeThat(EMULATOR).as("Debian's qemu-user-static").exists();
        assumeThat(Path.of("/usr/bin", COMPILER))
                .as("Debian's gcc-aarch64-linux-gnu")
                .exists();
        Path root = ServerProcess.root();
        Path made = Files.createDirectory(folder.resolve("made"));
        String output = run(
                "sh",
                root.resolve("server/src/main/sh/distribution/make.sh").toString(),
                root.toString(),
                System.getProperty("gatun.lib"),
                "1.2.3",
                made.toString(),
                "aarch64");
        assertThat(made.resolve("gatun-1.2.3-linux-aarch64.tar.gz")).as(output).exists();
        assertThat(made.resolve("gatun_1.2.3_arm64.deb")).as(output).exists();
        run("tar", "-xzf", made.resolve("gatun-1.2.3-linux-aarch64.tar.gz").toString(), "-C", folder.toString());
        distribution = folder.resolve("gatun-1.2.3-linux-aarch64");
    }

    private static String run(String... command) throws Exception {
        Path output = Files.createTempFile(folder, "output", "");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("GATUN_COMPRESSION", "1");
        builder.environment().put("QEMU_LD_PREFIX", LIBRARIES.toString());
        Process process = builder.start();
        assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readString(output);
    }

    @Test
    void shouldHaveWhatADistributionHasButNoJavaAndNoCache() throws Exception {
        assertThat(files(""))
                .contains("README.md", "LICENSE", "CHANGELOG.md", "bin", "lib", "native", "models", "share");
        assertThat(files("bin")).containsExactlyInAnyOrder("gatun", "tritonserver", "tensorflow_model_server");
        assertThat(files("native"))
                .containsExactlyInAnyOrder(
                        "libgatun-guard.so", "libgatun-copy.so", "libonnxruntime.so", "onnxruntime-notices.txt");
        assertThat(distribution.resolve("share/man/man1/gatun.1")).content().startsWith(".TH GATUN 1");
        assertThat(distribution.resolve("runtime")).doesNotExist();
        assertThat(distribution.resolve("lib/gatun.aot")).doesNotExist();
    }

    @Test
    void shouldHaveLibrariesForItsMachine() throws Exception {
        List<String> libraries = new ArrayList<>(files("native"));
        libraries.removeIf(file -> !file.endsWith(".so"));
        assertThat(libraries).hasSize(3).allSatisfy(file -> assertThat(
                        machine(distribution.resolve("native").resolve(file)))
                .as(file)
                .isEqualTo(EM_AARCH64));
    }

    @Test
    void shouldRunItsNativeCodeInAnEmulator() throws Exception {
        Path program = folder.resolve("natives");
        run(
                COMPILER,
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
                program.toString(),
                ServerProcess.root().resolve("it/src/test/c/natives.c").toString());
        assertThat(run(
                        EMULATOR.toString(),
                        program.toString(),
                        distribution.resolve("native").toString()))
                .isEqualTo("""
                        whole: 7, broken 0
                        truncated: 7, 0, broken 1
                        of others: 0, passed on 1
                        copied: 1
                        """);
    }

    private static List<String> files(String part) throws IOException {
        try (Stream<Path> files = Files.list(distribution.resolve(part))) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private static int machine(Path library) throws IOException {
        try (InputStream in = Files.newInputStream(library)) {
            byte[] head = in.readNBytes(20);
            return (head[18] & 0xFF) | (head[19] & 0xFF) << 8;
        }
    }
}
