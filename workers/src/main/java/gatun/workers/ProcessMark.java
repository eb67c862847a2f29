// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mark in a worker's environment, which all processes that it starts inherit, so that they are found when it has
 * ended. Those with environments of their own are found by its session, unless they have left that too. Thread-safe.
 */
final class ProcessMark {
    static final String SERVER_VARIABLE = "GATUN_WORKER_OF";
    static final String WORKER_VARIABLE = "GATUN_WORKER";

    /** This server; its workers' descendants are known by it when it has ended itself. */
    static final String SERVER = UUID.randomUUID().toString();

    private static final Logger LOG = LoggerFactory.getLogger(ProcessMark.class);
    private static final Path PROCESSES = Path.of("/proc");

    /** How long a worker's descendants have to clean up before they are killed. */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** How long descendants that go on starting others are killed. */
    private static final long KILLING_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How long processes are given to be gone, before all are looked at again. */
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Of the process behind its name in {@code stat}: see proc(5). */
    private static final int STATE_FIELD = 0;

    private static final int SESSION_FIELD = 3;

    private static final AtomicLong LAST = new AtomicLong();

    private final String worker = SERVER + "-" + LAST.incrementAndGet();

    ProcessMark() {}

    Map<String, String> environment() {
        return Map.of(SERVER_VARIABLE, SERVER, WORKER_VARIABLE, worker);
    }

    /**
     * Kills every process that the worker has left, also those that are stopped. To be called when the worker itself has
     * ended: then the number of its session, which is its own, is nobody else's while one process of the session lives.
     */
    void killDescendants(long pid) {
        long begin = System.nanoTime();
        int killed = 0;
        for (List<ProcessHandle> left = left(pid); !left.isEmpty(); left = left(pid)) {
            long elapsed = System.nanoTime() - begin;
            if (elapsed > GRACE_NANOS + KILLING_NANOS) {
                LOG.error("{} processes that worker {} has started could not be ended", left.size(), pid);
                return;
            }
            if (elapsed > GRACE_NANOS) {
                // By handles that were taken before the processes were looked at: where a number is another's by now,
                // its handle kills nothing.
                killed += (int)
                        left.stream().filter(ProcessHandle::destroyForcibly).count();
            }
            LockSupport.parkNanos(this, ROUND_NANOS);
        }
        if (killed > 0) {
            LOG.info("Worker {} had left processes that it started: they were ended by {} signals", pid, killed);
        }
    }

    private List<ProcessHandle> left(long pid) {
        String mark = WORKER_VARIABLE + "=" + worker;
        // A session without its leader is the worker's; with one, the number belongs to somebody else by now.
        String session = Files.exists(PROCESSES.resolve(Long.toString(pid))) ? "" : Long.toString(pid);
        List<ProcessHandle> left = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (Path process : processes) {
                long number = Long.parseLong(process.getFileName().toString());
                Optional<ProcessHandle> handle = ProcessHandle.of(number);
                if (number != pid && handle.isPresent() && (isOf(session, process) || carries(mark, process))) {
                    left.add(handle.get());
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.warn("The processes that worker {} has started cannot be looked for: {}", pid, e.toString());
        }
        return left;
    }

    private static boolean isOf(String session, Path process) {
        if (session.isEmpty()) {
            return false;
        }
        try {
            String line = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", SESSION_FIELD + 2);
            return fields[SESSION_FIELD].equals(session) && !"Z".equals(fields[STATE_FIELD]);
        } catch (IOException e) {
            return false; // It has just ended.
        }
    }

    /** Whether a process was started with {@code mark} in its environment; one that has ended has none any more. */
    private static boolean carries(String mark, Path process) {
        try {
            String variables = Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1);
            return ("\0" + variables + "\0").contains("\0" + mark + "\0");
        } catch (IOException e) {
            return false; // It has just ended, or is another user's.
        }
    }
}
