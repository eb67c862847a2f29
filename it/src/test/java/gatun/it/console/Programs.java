// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import gatun.testing.Python;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs programs that the page has written. For one test.
 *
 * @param folder for the programs
 * @param token what they read from the variable {@code TOKEN}
 */
record Programs(Path folder, String token) {
    private static final long LIMIT_SECONDS = 60;

    /** What a shell prints. */
    String shell(String text) throws IOException, InterruptedException {
        return run("sh", write("ask.sh", text));
    }

    /** What Python prints. */
    String python(String text) throws IOException, InterruptedException {
        return run(Python.with(), write("ask.py", text));
    }

    /** What Java prints, with the server's class path, in which the client is. */
    String java(String text) throws IOException, InterruptedException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return run(
                java.toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("gatun.lib") + "/*",
                "--enable-native-access=ALL-UNNAMED",
                write("Ask.java", text));
    }

    /** What a program of C prints. */
    String c(String text) throws IOException, InterruptedException {
        String program = folder.resolve("ask").toString();
        run("cc", "-o", program, write("ask.c", text));
        return run(program);
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    private String run(String... command) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Path errors = folder.resolve("errors");
        List<String> all = List.of(command);
        ProcessBuilder builder = new ProcessBuilder(all)
                .directory(folder.toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile());
        builder.environment().put("TOKEN", token);
        Process process = builder.start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(all + " did not end");
        }
        if (process.exitValue() != 0) {
            throw new AssertionError(all + " ended with " + process.exitValue() + ": " + Files.readString(errors));
        }
        return new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
    }
}
