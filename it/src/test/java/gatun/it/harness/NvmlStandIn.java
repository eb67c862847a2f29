// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A library that stands in for the one by which NVIDIA's driver tells of its GPUs. */
public final class NvmlStandIn {
    private NvmlStandIn() {}

    /** Builds it in {@code folder}, for {@code LD_LIBRARY_PATH}; skips the test on a machine without a C compiler. */
    public static void build(Path folder) throws IOException, InterruptedException, URISyntaxException {
        String compilerName = System.getenv().getOrDefault("CC", "cc");
        assumeThat(canRun(compilerName)).as("a C compiler").isTrue();
        Process compiler = new ProcessBuilder(
                        compilerName,
                        "-shared",
                        "-fPIC",
                        "-I",
                        ServerProcess.root().resolve("native-headers/nvml").toString(),
                        "-o",
                        folder.resolve("libnvidia-ml.so.1").toString(),
                        Path.of(Objects.requireNonNull(NvmlStandIn.class.getResource("nvml.c"))
                                        .toURI())
                                .toString())
                .inheritIO()
                .start();
        assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
    }

    private static boolean canRun(String compiler) throws InterruptedException {
        try {
            return new ProcessBuilder(compiler, "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
