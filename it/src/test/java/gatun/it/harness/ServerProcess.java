// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The real program for a test: the launcher script, the packaged jars, free ports read back from the ready file. Owns
 * the process and a folder with its output. {@link #close} asks it to stop, kills it if it does not, and fails the test
 * when it exits badly or has logged an error.
 */
public final class ServerProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(45);

    private static final String MODEL_SERVER = "tensorflow_model_server";
    private static final String READY_FILE = "--ready-file=";

    private final Path folder;
    private final Process process;
    private boolean errorsExpected;

    private ServerProcess(Path folder, Process process) {
        this.folder = folder;
        this.process = process;
    }

    /** The models that the quick start serves. */
    public static Path exampleModels() {
        return root().resolve("examples/models");
    }

    /** The project's folder, where the launcher lies. */
    public static Path root() {
        return Path.of(System.getProperty("gatun.root"));
    }

    /** Serves {@code repository} on free ports of the loopback address and waits until the server is ready. */
    public static ServerProcess launch(Path repository, String... flags) throws InterruptedException {
        return launch(repository, Map.of(), flags);
    }

    /** As {@link #launch(Path, String...)}, with more environment. */
    public static ServerProcess launch(Path repository, Map<String, String> environment, String... flags)
            throws InterruptedException {
        return launch(developersLauncher(), repository, environment, flags);
    }

    /** As {@link #launch(Path, Map, String...)}, by another launcher than that of the source tree. */
    public static ServerProcess launch(Path launcher, Path repository, Map<String, String> environment, String... flags)
            throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--model-repository=" + repository));
        arguments.addAll(List.of(flags));
        return launch(launcher, arguments, environment);
    }

    /** As {@link #launch(Path, String...)} without a repository: the flags say which models to serve. */
    public static ServerProcess launchList(String... flags) throws InterruptedException {
        return launchList(Map.of(), flags);
    }

    /** As {@link #launchList(String...)}, with more environment. */
    public static ServerProcess launchList(Map<String, String> environment, String... flags)
            throws InterruptedException {
        return launch(developersLauncher(), List.of(flags), environment);
    }

    /** Runs exactly {@code tensorflow_model_server} with these flags, and waits until the server is ready. */
    public static ServerProcess launchModelServer(String... flags) throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(MODEL_SERVER));
        arguments.addAll(List.of(flags));
        return launchCommand(arguments, Map.of());
    }

    /** Runs exactly these arguments, with more environment, and waits until the server is ready. */
    public static ServerProcess launchCommand(List<String> arguments, Map<String, String> environment)
            throws InterruptedException {
        return ready(start(arguments, environment));
    }

    private static ServerProcess launch(Path launcher, List<String> flags, Map<String, String> environment)
            throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(
                "serve",
                "--http-address=127.0.0.1",
                "--http-port=0",
                "--grpc-address=127.0.0.1",
                "--grpc-port=0",
                "--metrics-port=0"));
        arguments.addAll(flags);
        return ready(start(launcher, arguments, environment));
    }

    private static ServerProcess ready(ServerProcess server) throws InterruptedException {
        try {
            server.awaitReady();
            return server;
        } catch (Throwable t) {
            server.kill();
            throw t;
        }
    }

    /**
     * Runs the launcher with exactly these arguments, a ready file unless they name one, and more environment; waits
     * for nothing.
     */
    public static ServerProcess start(List<String> arguments, Map<String, String> environment) {
        return start(developersLauncher(), arguments, environment);
    }

    private static Path developersLauncher() {
        return root().resolve("gatun");
    }

    /** As {@link #start(List, Map)}, by another launcher than that of the source tree. */
    public static ServerProcess start(Path launcher, List<String> arguments, Map<String, String> environment) {
        try {
            Path folder = Files.createTempDirectory(
                    Files.createDirectories(Path.of(System.getProperty("gatun.it.folder"))), "server");
            // A build in the background ignores interrupts and perhaps hang-ups, and so would all that it starts.
            List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT,HUP", launcher.toString()));
            command.addAll(arguments);
            boolean serves = arguments.contains("serve") || arguments.contains(MODEL_SERVER);
            if (serves && arguments.stream().noneMatch(argument -> argument.startsWith(READY_FILE))) {
                command.add(READY_FILE + folder.resolve("ready"));
            }
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectOutput(folder.resolve("out").toFile())
                    .redirectError(folder.resolve("err").toFile());
            builder.environment().put("GATUN_BUILD", "never");
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().putAll(environment);
            return new ServerProcess(folder, builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start the launcher", e);
        }
    }

    /** Runs the launcher until it ends by itself. */
    public static ServerProcess run(String... arguments) {
        ServerProcess server = start(List.of(arguments), Map.of());
        server.awaitExit(START_LIMIT);
        return server;
    }

    private void awaitReady() throws InterruptedException {
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        try (WatchService changes = FileSystems.getDefault().newWatchService()) {
            folder.register(changes, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(folder.resolve("ready"))) {
                if (!process.isAlive()) {
                    throw new AssertionError(
                            "the server ended with " + process.exitValue() + " before it was ready" + transcript());
                }
                if (System.nanoTime() > deadline) {
                    throw new AssertionError("the server was not ready within " + START_LIMIT + transcript());
                }
                var key = changes.poll(100, TimeUnit.MILLISECONDS);
                if (key != null) {
                    key.reset();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A URL of the HTTP listener. */
    public URI http(String path) {
        return URI.create(ready("http.url") + path);
    }

    /** The URL of the metrics. */
    public URI metrics() {
        return URI.create(ready("metrics.url"));
    }

    /** The gRPC listener's port. */
    public int grpcPort() {
        return Integer.parseInt(ready("grpc.port"));
    }

    /** The HTTP listener's port. */
    public int httpPort() {
        return Integer.parseInt(ready("http.port"));
    }

    /** The keys in the ready file. */
    public Set<String> readyKeys() {
        return readyFile().stringPropertyNames();
    }

    /** The value of a key in the ready file. */
    public String ready(String key) {
        Properties properties = readyFile();
        String value = properties.getProperty(key);
        if (value == null) {
            throw new AssertionError("the ready file does not say " + key + ": " + properties);
        }
        return value;
    }

    private Properties readyFile() {
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(folder.resolve("ready"))) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("no ready file" + transcript(), e);
        }
        return properties;
    }

    /** Where the ready file is, once the server is ready. */
    public Path readyPath() {
        return folder.resolve("ready");
    }

    /** Whether the ready file is there. */
    public boolean readyFileExists() {
        return Files.exists(folder.resolve("ready"));
    }

    /** The standard output of the process. */
    public String output() {
        return read("out");
    }

    /** The log of the process. */
    public String log() {
        return read("err");
    }

    /** The process, to look at it from outside. */
    public ProcessHandle handle() {
        return process.toHandle();
    }

    /** The processes that it has started, and those of theirs, whose command line has {@code word}. */
    public List<ProcessHandle> descendants(String word) {
        return handle().descendants()
                .filter(process -> commandOf(process).contains(word))
                .toList();
    }

    private static String commandOf(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
        } catch (IOException e) {
            return ""; // It has just ended.
        }
    }

    /** Lets {@link #close} accept errors in the log: the test provokes them. */
    public ServerProcess expectErrors() {
        errorsExpected = true;
        return this;
    }

    /** Sends SIGTERM. */
    public void terminate() {
        process.destroy();
    }

    /** Sends any signal by name, such as INT. */
    public void signal(String name) throws InterruptedException {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
            if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new AssertionError("cannot send SIG" + name + " to " + process.pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the end and returns the exit status. */
    public int awaitExit(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                kill();
                throw new AssertionError("the process did not end within " + limit + transcript());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill();
            throw new AssertionError("interrupted while the process was to end", e);
        }
        return process.exitValue();
    }

    /** Stops the server and fails the test when it does not go in order. */
    @Override
    public void close() {
        if (process.isAlive()) {
            terminate();
            int status = awaitExit(STOP_LIMIT);
            if (status != 0) {
                throw new AssertionError("the server exited with " + status + transcript());
            }
        }
        if (!errorsExpected && log().lines().anyMatch(line -> line.matches("E\\d{4} .*"))) {
            throw new AssertionError("the server logged an error" + transcript());
        }
    }

    private void kill() {
        process.destroyForcibly();
    }

    private String read(String file) {
        try {
            return Files.readString(folder.resolve(file), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The output and log of the process, for the message of a failure; its files stay in the folder. */
    public String transcript() {
        return "\n--- " + folder + "/out\n" + read("out") + "--- " + folder + "/err\n" + read("err") + "---";
    }
}
