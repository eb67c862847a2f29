// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import gatun.memory.tensor.IoFailure;
import gatun.memory.threads.SupervisedThread;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.server.settings.LoggingSettings.AccessLogSettings;
import gatun.server.settings.LoggingSettings.LogRotation;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the access log on a thread of its own. Requests leave their entries in a queue of bounded length and go on,
 * however slow the file is; entries that find it full, or cannot be written, are dropped and counted. Safe for any
 * thread.
 */
public final class AccessLogWriter implements AccessLog, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLogWriter.class);

    /** How many entries wait at most: a fifth of a second at 80,000 requests a second, and 16 MiB if they are all long. */
    static final int CAPACITY = 16_384;

    /** How long an entry may lie before it is written, so that no request need wake the thread. */
    private static final Duration PERIOD = Duration.ofMillis(50);

    /** The longest wait at the end for a file that takes nothing. */
    private static final Duration LAST_WRITE = Duration.ofSeconds(2);

    /** From this length on, lines are written before more are made. */
    private static final int PIECE_CHARS = 64 * 1024;

    private final Optional<Path> file;
    private final LogRotation rotation;
    private final AccessLines form;
    private final Queue<AccessEntry> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder written = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final Thread thread;
    private volatile boolean closing;
    private volatile boolean reopening;

    // Used by the thread only, once it has started.
    private final StringBuilder lines = new StringBuilder();
    private @Nullable OutputStream target;

    /** Whether the log has said that lines cannot be written. */
    private boolean failing;

    private AccessLogWriter(AccessLogSettings settings, LogRotation rotation) {
        this.file = settings.file();
        this.rotation = rotation;
        this.form = new AccessLines(settings.json());
        this.thread = SupervisedThread.unstarted("access-log", this::run);
    }

    /** Begins to write. Throws {@link UncheckedIOException}, which names the file, when that is not possible. */
    public static AccessLogWriter open(AccessLogSettings settings, LogRotation rotation) {
        AccessLogWriter log = new AccessLogWriter(settings, rotation);
        // To open a pipe waits for its reader, which the thread may do.
        if (settings.file().filter(AccessLogWriter::mayWait).isEmpty()) {
            try {
                log.target = log.openTarget();
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "--access-log=" + settings.file().orElseThrow() + " cannot be written: " + IoFailure.reason(e)
                                + "; name a file in a folder that exists and that this user may write to, or -",
                        e);
            }
        }
        log.thread.start();
        return log;
    }

    private static boolean mayWait(Path file) {
        return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
    }

    private OutputStream openTarget() throws IOException {
        return file.isPresent() ? new RotatingFile(file.get(), rotation) : new FileOutputStream(FileDescriptor.out);
    }

    @Override
    public boolean isOn() {
        return true;
    }

    @Override
    public boolean write(AccessEntry entry) {
        if (waiting.incrementAndGet() > CAPACITY) {
            waiting.decrementAndGet();
            dropped.increment();
            return false;
        }
        return queue.add(entry);
    }

    @Override
    public long writtenCount() {
        return written.sum();
    }

    @Override
    public long droppedCount() {
        return dropped.sum();
    }

    /** Has the file opened anew by its name, after somebody may have moved it away. */
    public void reopen() {
        reopening = true;
        LockSupport.unpark(thread);
    }

    private void run() {
        while (true) {
            boolean last = closing; // before the look at the queue, in which nothing is left out then
            if (reopening) {
                reopening = false;
                reopenTarget();
            }
            if (!writePiece()) {
                if (last) {
                    closeTarget();
                    return;
                }
                LockSupport.parkNanos(this, PERIOD.toNanos());
            }
        }
    }

    /** Writes some lines; false when none were waiting, or they could not be written. */
    private boolean writePiece() {
        int count = 0;
        lines.setLength(0);
        try {
            while (lines.length() < PIECE_CHARS) {
                AccessEntry entry = queue.poll();
                if (entry == null) {
                    break;
                }
                count++;
                form.append(lines, entry);
            }
            return count > 0 && write(count);
        } finally {
            waiting.addAndGet(-count);
        }
    }

    private boolean write(int count) {
        try {
            OutputStream out = target;
            if (out == null) {
                out = openTarget();
                target = out;
            }
            out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            dropped.add(count);
            if (!failing) {
                failing = true;
                LOG.error("Lines of the access log are dropped: {} cannot be written: {}", name(), IoFailure.reason(e));
            }
            return false;
        }
        written.add(count);
        if (failing) {
            failing = false;
            LOG.info("Lines of the access log are written again; {} were dropped so far", dropped.sum());
        }
        rotate();
        return true;
    }

    private void rotate() {
        try {
            if (target != null) {
                target.flush();
            }
        } catch (IOException e) {
            LOG.error("{} cannot be begun anew, and grows: {}", name(), IoFailure.reason(e));
        }
    }

    private void reopenTarget() {
        if (target instanceof RotatingFile present) {
            try {
                present.reopen();
                LOG.info("The access log goes on in {}", name());
            } catch (IOException e) {
                LOG.error(
                        "{} cannot be opened anew, the access log goes on where it was: {}",
                        name(),
                        IoFailure.reason(e));
            }
        }
    }

    private String name() {
        return file.map(Path::toString).orElse("standard output");
    }

    /** Writes the waiting lines, within a limited time, and ends. */
    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(thread);
        try {
            thread.join(LAST_WRITE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("{} takes no lines of the access log; {} were not written", name(), waiting.get());
        }
    }

    private void closeTarget() {
        if (target instanceof RotatingFile present) {
            try {
                present.close();
            } catch (IOException e) {
                LOG.warn("{} could not be closed: {}", name(), IoFailure.reason(e));
            }
        }
    }
}
