// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mvnw}: the Maven that it runs, and that it installs nothing that it cannot trust. */
class MavenWrapperIT {
    @TempDir
    Path folder;

    private Path home;
    private Path programs;

    @BeforeEach
    void prepare() throws IOException {
        home = Files.createDirectory(folder.resolve("home"));
        programs = Files.createDirectory(folder.resolve("programs"));
        for (String name :
                List.of("sh", "sed", "curl", "tar", "gzip", "mktemp", "mkdir", "mv", "rm", "sha512sum", "sort")) {
            Path program = Stream.of("/bin", "/usr/bin")
                    .map(bin -> Path.of(bin, name))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow();
            Files.createSymbolicLink(programs.resolve(name), program);
        }
    }

    @Test
    void shouldRunTheMavenOfTheMachine() throws Exception {
        maven("3.8.6");
        assertThat(run("verify", "-q")).isEqualTo("0: Apache Maven 3.8.6 with verify -q");
    }

    @Test
    void shouldNotRunAMavenThatIsTooOld() throws Exception {
        maven("3.6.3");
        assertThat(run("verify")).startsWith("1: ").contains("there is no Maven 3.8.6 or newer", "MAVEN_URL");
        assertThat(installed()).isEmpty();
    }

    @Test
    void shouldInstallNoOtherArchive() throws Exception {
        assertThat(run("verify")).startsWith("1: ").contains("its SHA-512 differs");
        assertThat(installed()).isEmpty();
    }

    private void maven(String version) throws IOException {
        Path program = Files.writeString(
                programs.resolve("mvn"), "#!/bin/sh\necho \"Apache Maven " + version + " with $*\"\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        if (version.startsWith("3.6")) {
            Files.delete(programs.resolve("curl"));
        }
    }

    private List<Path> installed() throws IOException {
        Path wrapper = home.resolve(".m2/wrapper");
        if (!Files.exists(wrapper)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(wrapper)) {
            return files.toList();
        }
    }

    /** The exit status, and the last line of the output. */
    private String run(String... arguments) throws IOException, InterruptedException {
        Path other = Files.writeString(folder.resolve("other.tar.gz"), "not Maven");
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of("../mvnw"), Stream.of(arguments)).toList());
        Map<String, String> environment = builder.environment();
        environment.put("HOME", home.toString());
        environment.put("PATH", programs.toString());
        environment.put("MAVEN_URL", other.toUri().toString());
        Process process = builder.redirectErrorStream(true).start();
        process.getOutputStream().close();
        List<String> lines = process.inputReader().lines().toList();
        return process.waitFor() + ": " + lines.getLast();
    }
}
