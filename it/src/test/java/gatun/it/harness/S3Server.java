// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import gatun.testing.Await;
import gatun.testing.FreePorts;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A real server of S3's protocol, which checks signatures: S3Proxy, in a process of its own, with one bucket in its memory.
 * Owns the process.
 */
public final class S3Server implements AutoCloseable {
    /** What clients find in their environment. */
    public static final Map<String, String> CREDENTIALS = Map.of(
            "AWS_ACCESS_KEY_ID", "gatun-test-key",
            "AWS_SECRET_ACCESS_KEY", "gatun-test-secret");

    private final Process process;
    private final int port;

    private S3Server(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts it, and waits until it answers.
     *
     * @param folder for its files
     */
    public static S3Server start(Path folder) throws IOException, InterruptedException {
        return FreePorts.start(ports -> startAt(ports.getAsInt(), folder));
    }

    private static S3Server startAt(int port, Path folder) throws IOException, InterruptedException {
        Path configuration = Files.writeString(folder.resolve("s3proxy.conf"), """
                s3proxy.endpoint=http://127.0.0.1:%d
                s3proxy.authorization=aws-v4
                s3proxy.identity=%s
                s3proxy.credential=%s
                jclouds.provider=transient-nio2
                jclouds.identity=none
                jclouds.credential=none
                """.formatted(
                        port, CREDENTIALS.get("AWS_ACCESS_KEY_ID"), CREDENTIALS.get("AWS_SECRET_ACCESS_KEY")));
        Path log = folder.resolve("s3proxy.log");
        // Into a file of its own, since S3Proxy logs what it writes to the standard error.
        Path logging = Files.writeString(folder.resolve("logging.properties"), """
                handlers=java.util.logging.FileHandler
                java.util.logging.FileHandler.pattern=%s
                java.util.logging.FileHandler.formatter=java.util.logging.SimpleFormatter
                """.formatted(log));
        Path output = folder.resolve("s3proxy.out");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.util.logging.config.file=" + logging,
                        "-cp",
                        classPath(),
                        "org.gaul.s3proxy.Main",
                        "--properties",
                        configuration.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        S3Server server = new S3Server(process, port);
        Await.until("S3Proxy", () -> {
            if (!process.isAlive()) {
                throw new AssertionError("S3Proxy did not start: " + Files.readString(output) + read(log));
            }
            return read(log).contains("Started Server");
        });
        server.curl("-X", "PUT", server.http(""));
        return server;
    }

    /** That of the tests, but for Tomcat's: S3Proxy speaks an older version of the servlet API, which lies there, too. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(jar -> !jar.contains("tomcat-embed"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String read(Path log) throws IOException {
        return Files.exists(log) ? Files.readString(log) : "";
    }

    /** The port. */
    public int port() {
        return port;
    }

    /** The URL of a folder in the bucket, as Gatun takes it. */
    public String url(String path) {
        return "s3://http://127.0.0.1:" + port + "/bucket/" + path;
    }

    private String http(String name) {
        return "http://127.0.0.1:" + port + "/bucket" + (name.isEmpty() ? "" : "/" + name);
    }

    /** Puts a file into the bucket. */
    public void put(String name, Path file) throws IOException, InterruptedException {
        curl("-T", file.toString(), http(name));
    }

    /** Puts the files of a folder into the bucket. */
    public void putAll(String prefix, Path folder) throws IOException, InterruptedException {
        List<Path> files;
        try (var below = Files.walk(folder)) {
            files = below.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            put(prefix + "/" + folder.relativize(file), file);
        }
    }

    private void curl(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "curl",
                "-sS",
                "--fail",
                "--aws-sigv4",
                "aws:amz:us-east-1:s3",
                "--user",
                CREDENTIALS.get("AWS_ACCESS_KEY_ID") + ":" + CREDENTIALS.get("AWS_SECRET_ACCESS_KEY"),
                "-H",
                "x-amz-content-sha256: UNSIGNED-PAYLOAD"));
        command.addAll(List.of(arguments));
        Process curl = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (curl.waitFor() != 0) {
            throw new AssertionError("curl failed: " + said);
        }
    }

    /** Ends it, as a store that is gone. */
    public void stop() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        stop();
    }
}
