// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.workers.InheritedFiles;
import gatun.workers.ProcessLimits;
import gatun.workers.WorkerProcess;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How the process of an engine is started: with the Java and the jars of this one, on a small heap. */
final class EngineCommand {
    private static final String MODULE = "gatun.isolation";
    private static final String MAIN = "gatun.isolation.engine.EngineMain";

    /** The program of the server: its cache of classes is for the start of that alone. */
    private static final String SERVER = "gatun.server";

    private static final String SERVER_MAIN = "gatun.server.Main";

    /** The argument that has the server's program be the process of an engine. */
    static final String PROGRAM = "engine-process";

    /** How many cores this JVM was told there are; processes that have cores of their own count these. */
    private static final String TOLD_CORES = "-XX:ActiveProcessorCount";

    /** Flags of this JVM that processes get too. */
    private static final List<String> PASSED_ON = List.of(
            "--enable-native-access",
            "--sun-misc-unsafe",
            "-XX:AOTCache",
            "-Xlog:aot",
            "-Xlog:cds",
            "-Djava.library.path");

    /** Frames leave by descriptor 3; what engines print goes where errors go. */
    private static final String REDIRECTED = "3>&1 1>&2";

    private EngineCommand() {}

    static WorkerProcess.Command of(
            String name, ProcessSettings settings, Optional<Path> backendDirectory, InheritedFiles inherited) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ProcessLimits limits = settings.limits();
        command.addAll(flags(limits.cores().isEmpty()));
        backendDirectory.ifPresent(folder -> command.add(folder.toString()));
        return limits.on(
                limits.asUser(new WorkerProcess.Command(name, new ProcessBuilder(command)), inherited, REDIRECTED));
    }

    private static List<String> flags(boolean hasAllCores) {
        List<String> flags = new ArrayList<>(List.of(
                "-XX:+UseSerialGC",
                "-Xms16m",
                "-Xmx256m",
                "-XX:MaxDirectMemorySize=1t",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:-UsePerfData",
                "-XX:-CreateCoredumpOnCrash",
                "-Djava.util.logging.SimpleFormatter.format=%5$s%6$s%n",
                // The report of a crash, of which the server tells what matters.
                "-XX:ErrorFile=" + CrashReport.pattern()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag ->
                        PASSED_ON.stream().anyMatch(flag::startsWith) || (hasAllCores && flag.startsWith(TOLD_CORES)))
                .forEach(flags::add);
        String modulePath = System.getProperty("jdk.module.path");
        if (modulePath == null || !EngineCommand.class.getModule().isNamed()) {
            flags.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        } else if (SERVER.equals(System.getProperty("jdk.module.main"))) {
            flags.addAll(List.of("-p", modulePath, "-m", SERVER + "/" + SERVER_MAIN, PROGRAM));
        } else {
            flags.addAll(List.of("-p", modulePath, "-m", MODULE + "/" + MAIN));
        }
        return flags;
    }

    /** What the JVM says when it crashes. */
    static final class CrashReport {
        private CrashReport() {}

        /** Where the JVM writes it, with {@code %p} for the number of the process. */
        static Path pattern() {
            return file("%p");
        }

        private static Path file(String pid) {
            return Path.of(System.getProperty("java.io.tmpdir"), "gatun-worker-" + pid + ".log");
        }

        /** The signal and the place of a crash, in one line; the report is deleted. Empty when there is none. */
        static Optional<String> take(long pid) {
            Path file = file(Long.toString(pid));
            try {
                if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) { // which another user may have made
                    return Optional.empty();
                }
                List<String> lines;
                try (var read = Files.lines(file)) {
                    lines = read.limit(40)
                            .map(line -> line.replaceFirst("^#\\s*", ""))
                            .toList();
                } finally {
                    Files.delete(file);
                }
                String signal = lines.stream()
                        .filter(line -> line.startsWith("SIG") || line.startsWith("Internal Error"))
                        .findFirst()
                        .map(line -> line.split(" ", 2)[0])
                        .orElse("");
                int frame = lines.indexOf("Problematic frame:");
                String place = frame >= 0 && frame + 1 < lines.size()
                        ? lines.get(frame + 1).strip()
                        : "";
                return signal.isEmpty()
                        ? Optional.empty()
                        : Optional.of(signal + (place.isEmpty() ? "" : " in " + place));
            } catch (IOException e) {
                return Optional.empty(); // The status of the process tells enough.
            }
        }
    }
}
