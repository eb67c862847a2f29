// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import gatun.jmh.ServerProcess;
import gatun.testing.attacks.Target;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The real server, started by its launcher with default flags, and measurements of its process. Owns the process. */
final class SoakServer implements AutoCloseable {
    private static final long KIB = 1024;

    /** Collectors say either, for each part of the heap. */
    private static final Pattern USED_HEAP = Pattern.compile("(\\d+)K used|used (\\d+)K");

    private static final Pattern RESIDENT = Pattern.compile("(?m)^VmRSS:\\s+(\\d+) kB$");

    private final ServerProcess process;
    private final Path folder;

    private SoakServer(ServerProcess process, Path folder) {
        this.process = process;
        this.folder = folder;
    }

    /**
     * Starts a server of the example models, and of {@code identity_int8} and {@code identity_bytes}, which give back
     * what they get.
     *
     * @param root the project's folder
     * @param folder for the sockets, the log and the models; empty
     * @param flags more flags
     */
    static SoakServer start(Path root, Path folder, String... flags) throws IOException, InterruptedException {
        addIdentity(folder.resolve("models"), "identity_int8", "TYPE_INT8");
        addIdentity(folder.resolve("models"), "identity_bytes", "TYPE_STRING");
        List<String> command = new ArrayList<>(List.of(
                root.resolve("gatun").toString(),
                "serve",
                "--model-repository=" + root.resolve("examples/models"),
                "--model-repository=" + folder.resolve("models"),
                "--model-control-mode=explicit",
                "--load-model=*",
                "--allow-client-shm",
                "--http-address=127.0.0.1",
                "--http-port=0",
                "--http-unix-socket=" + folder.resolve("http.sock"),
                "--grpc-address=127.0.0.1",
                "--grpc-port=0",
                "--grpc-unix-socket=" + folder.resolve("grpc.sock"),
                "--metrics-port=0"));
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("GATUN_BUILD", "never");
        return new SoakServer(ServerProcess.start(folder, builder), folder);
    }

    private static void addIdentity(Path repository, String name, String datatype) throws IOException {
        Files.createDirectories(repository.resolve(name + "/1"));
        Files.writeString(repository.resolve(name + "/config.pbtxt"), """
                backend: "identity"
                max_batch_size: 0
                input [ { name: "IN" data_type: %s dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: %s dims: [ -1 ] } ]
                """.formatted(datatype, datatype));
    }

    /** A path in the folder of the server. */
    Path folder() {
        return folder;
    }

    int httpPort() {
        return process.httpPort();
    }

    int grpcPort() {
        return process.grpcPort();
    }

    /** Where attackers find it. */
    Target target() {
        return Target.local(httpPort(), grpcPort());
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** The resources that the process holds now, after a garbage collection. */
    Vitals vitals() throws IOException, InterruptedException {
        return new Vitals(
                heapAfterCollection() / (double) KIB, residentKib() / (double) KIB, entries("fd"), entries("task"));
    }

    /** KiB of the heap. */
    private long heapAfterCollection() throws IOException, InterruptedException {
        jcmd("GC.run");
        long used = 0;
        Matcher matcher = USED_HEAP.matcher(jcmd("GC.heap_info")
                .lines()
                .filter(line -> !line.contains("class space") && !line.contains("Metaspace"))
                .filter(line -> line.contains("PSYoungGen") || line.contains("ParOldGen"))
                .reduce("", (all, line) -> all + line + "\n"));
        while (matcher.find()) {
            used += Long.parseLong(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
        }
        return used;
    }

    private long residentKib() throws IOException {
        Matcher matcher = RESIDENT.matcher(Files.readString(Path.of("/proc/" + process.pid() + "/status")));
        if (!matcher.find()) {
            throw new IOException("the server's memory cannot be read");
        }
        return Long.parseLong(matcher.group(1));
    }

    private int entries(String of) {
        File[] entries = new File("/proc/" + process.pid() + "/" + of).listFiles();
        return Objects.requireNonNull(entries, "the server is gone").length;
    }

    private String jcmd(String command) throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(process.pid()),
                        command)
                .redirectErrorStream(true)
                .start();
        String text = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (jcmd.waitFor() != 0) {
            throw new IOException("jcmd " + command + ": " + text);
        }
        return text;
    }

    /** Stops it as operators do; kills it when it does not. */
    @Override
    public void close() throws IOException {
        process.close();
    }
}
