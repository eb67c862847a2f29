// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --profile}: the JVM's flags that the launcher makes of it, of the memory there is, and of the kernel. */
class LaunchProfileIT {
    private static final String HUGE_PAGES = "-XX:+UseTransparentHugePages";
    private static final String LATE_COMPILER = "-XX:CompileThresholdScaling=4";
    private static final String RARE_QUESTIONS = "-XX:Tier0InvokeNotifyFreqLog=10";
    private static final String FEW_NEW_OBJECTS = "-Xmn8m";

    @TempDir
    Path folder;

    private Path memory;
    private Path hugePages;

    /** The launcher's shell with a Java that prints its arguments, and with a /sys of its own. */
    @BeforeEach
    void prepare() throws IOException {
        memory = Files.createDirectories(folder.resolve("sys/fs/cgroup")).resolve("memory.max");
        hugePages = Files.createDirectories(folder.resolve("sys/kernel/mm/transparent_hugepage"))
                .resolve("enabled");
        Files.writeString(hugePages, "always [madvise] never\n");
        Path java = Files.writeString(
                Files.createDirectories(folder.resolve("jdk/bin")).resolve("java"),
                "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
        String shared = Files.readString(ServerProcess.root().resolve("server/src/main/sh/launch.sh"));
        assertThat(shared).contains("</sys/");
        Files.writeString(
                folder.resolve("launcher"),
                shared.replace("/sys/", "sys/") + "jdk=jdk\nrun none -cp lib gatun.server.Main \"$@\"\n");
    }

    /** The arguments of the JVM. */
    private List<String> launched(Map<String, String> environment, String... arguments) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-eu", "launcher", "serve", "models")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile());
        builder.command().addAll(List.of(arguments));
        builder.environment().remove("GATUN_JAVA_OPTS");
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<String> said = Files.readAllLines(folder.resolve("out"));
        assertThat(process.exitValue()).as("%s", said).isZero();
        assertThat(said).endsWith(arguments);
        return said.subList(0, said.size() - arguments.length);
    }

    private List<String> launched(String... arguments) throws Exception {
        return launched(Map.of(), arguments);
    }

    @Test
    void shouldAskForRequestsThatCostLittleUnlessTold() throws Exception {
        assertThat(launched())
                .contains("-Dgatun.profile=balanced", HUGE_PAGES, RARE_QUESTIONS, "-Xms64m", "-Xmx512m")
                .doesNotContain(LATE_COMPILER, FEW_NEW_OBJECTS)
                .isEqualTo(launched("--profile=balanced"));
    }

    @Test
    void shouldAskForLittleMemoryWhereTold() throws Exception {
        assertThat(launched("--profile=small"))
                .contains("-Dgatun.profile=small", LATE_COMPILER, FEW_NEW_OBJECTS, "-Xms64m", "-Xmx512m")
                .doesNotContain(HUGE_PAGES)
                .isEqualTo(launched("--profile", "small"))
                .isEqualTo(launched("--profile=balanced", "--http-port=0", "--profile=small"))
                .isEqualTo(launched(Map.of("GATUN_PROFILE", "small")));
        assertThat(launched(Map.of("GATUN_PROFILE", "small"), "--profile", "balanced"))
                .isEqualTo(launched());
    }

    @Test
    void shouldLetTheFlagsOfTheUserWin() throws Exception {
        assertThat(launched(Map.of("GATUN_JAVA_OPTS", "-XX:-UseTransparentHugePages")))
                .containsSubsequence(HUGE_PAGES, "-XX:-UseTransparentHugePages");
        assertThat(launched(Map.of("GATUN_JAVA_OPTS", "-XX:CompileThresholdScaling=1 -Xmx1g"), "--profile=small"))
                .containsSubsequence("-Xmx512m", LATE_COMPILER, "-XX:CompileThresholdScaling=1", "-Xmx1g")
                // It might not fit into the user's heap.
                .doesNotContain(FEW_NEW_OBJECTS);
    }

    @ParameterizedTest
    @CsvSource({"256, -Xms64m, -Xmx64m", "100, -Xms32m, -Xmx32m", "800, -Xms64m, -Xmx200m"})
    void shouldChooseWhatFitsIntoASmallContainer(long mebibytes, String begin, String most) throws Exception {
        Files.writeString(memory, (mebibytes << 20) + "\n");
        assertThat(launched()).contains("-Dgatun.profile=balanced", begin, most).doesNotContain(HUGE_PAGES);
        assertThat(launched("--profile=small")).contains(begin, most, FEW_NEW_OBJECTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"max", "4294967296"})
    void shouldTakeAllOfAContainerThatIsLarge(String limit) throws Exception {
        List<String> unlimited = launched();
        Files.writeString(memory, limit + "\n");
        assertThat(launched()).isEqualTo(unlimited);
    }

    @Test
    void shouldNotAskForHugePagesWhereTheKernelGivesNone() throws Exception {
        Files.writeString(hugePages, "always madvise [never]\n");
        assertThat(launched()).doesNotContain(HUGE_PAGES);
        Files.delete(hugePages);
        assertThat(launched()).doesNotContain(HUGE_PAGES);
        Files.writeString(hugePages, "[always] madvise never\n");
        assertThat(launched()).contains(HUGE_PAGES);
    }

    @ParameterizedTest
    @CsvSource({"balanced", "small"})
    void shouldServe(String profile) throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--profile=" + profile);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
            assertThat(server.log()).doesNotContain("OpenJDK", "[gc");
        }
    }

    @Test
    void shouldNameTheProfilesWhereThereIsNoSuch() {
        ServerProcess gatun = ServerProcess.run("serve", "--profile=tiny", "models");
        assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(gatun.log()).contains("--profile: 'tiny' is not a profile: balanced or small.");
    }

    @Test
    void shouldNotPassOverAProfileThatComesTooLate() throws Exception {
        Path settings = Files.writeString(folder.resolve("gatun.yaml"), "profile: small\n");
        ServerProcess gatun = ServerProcess.run("serve", "--config=" + settings, "models");
        assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(gatun.log())
                .contains("--profile is 'small', but the JVM was started as 'balanced'", "Write it there.");
    }
}
