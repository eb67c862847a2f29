// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import gatun.memory.tensor.IoFailure;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.server.settings.LoggingSettings.LogRotation;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.slf4j.LoggerFactory;

/** Sends everything that is logged through SLF4J or {@code java.util.logging} to one place. Safe for any thread. */
public final class Log implements LogControl {
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(Log.class);
    private static final Logger ROOT = Logger.getLogger("");
    private static final Logger GATUN = Logger.getLogger("gatun");

    /** Chatty at its own INFO level; heard only when asked for. Held here, since the JDK's log holds loggers weakly. */
    private static final Logger HELIDON = Logger.getLogger("io.helidon");

    /** Only reads clients' headers, and would let a client fill the log with what it cannot read. */
    private static final Logger JETTY = Logger.getLogger("org.eclipse.jetty");

    private final FlushingHandler handler;
    private final LogRotation rotation;
    private final LibraryRecords library = new LibraryRecords(System::nanoTime);
    private final long processId = ProcessHandle.current().pid();
    private final ReentrantLock lock = new ReentrantLock();

    /** Written under the lock. */
    private volatile LogSettings settings;

    private Log(LogSettings settings, LogRotation rotation, OutputStream target) {
        this.settings = settings;
        this.rotation = rotation;
        this.handler = new FlushingHandler(target);
    }

    /** Replaces the configuration. Throws {@link UncheckedIOException}, which names the file that cannot be opened. */
    public static Log install(LogSettings settings) {
        return install(settings, LogRotation.NONE);
    }

    /** The same with a file that is begun anew when it is large. */
    public static Log install(LogSettings settings, LogRotation rotation) {
        Log log = new Log(
                settings,
                rotation,
                settings.file().map(file -> append(file, rotation)).orElse(System.err));
        log.handler.setFilter(log::isWanted);
        log.handler.setLevel(Level.ALL);
        LogManager.getLogManager().reset();
        log.apply(settings);
        ROOT.addHandler(log.handler);
        return log;
    }

    @Override
    public LogSettings settings() {
        return settings;
    }

    @Override
    public void change(UnaryOperator<LogSettings> change) {
        lock.lock();
        try {
            LogSettings changed = change.apply(settings);
            settings = changed;
            apply(changed);
        } finally {
            lock.unlock();
        }
    }

    /** Reopens the log file by its name, after somebody moved it; on failure, reports it in the open log. */
    public void reopen() {
        settings.file().ifPresent(file -> {
            try {
                handler.target(append(file, rotation));
                LOG.info("The log goes on in {}", file);
            } catch (UncheckedIOException e) {
                LOG.error("{}; the log goes on where it was", e.getMessage());
            }
        });
    }

    private void apply(LogSettings wanted) {
        handler.setFormatter(new LineFormatter(wanted.format(), processId));
        boolean libraries = wanted.verbosity() > 1;
        ROOT.setLevel(libraries ? Level.ALL : Level.INFO);
        GATUN.setLevel(wanted.verbosity() > 0 ? Level.ALL : Level.INFO);
        HELIDON.setLevel(libraries ? null : Level.WARNING);
        JETTY.setLevel(libraries ? null : Level.SEVERE);
    }

    private static OutputStream append(Path file, LogRotation rotation) {
        try {
            return new RotatingFile(file, rotation);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "--log-file=" + file + " cannot be written: " + IoFailure.reason(e)
                            + "; name a file in a folder that exists and that this user may write to",
                    e);
        }
    }

    /** Each severity can be switched off alone, as with Triton's flags. */
    private boolean isWanted(LogRecord record) {
        LogSettings now = settings;
        if (isLateConnection(record) || (now.verbosity() <= 1 && !library.admits(record))) {
            return false;
        }
        int level = record.getLevel().intValue();
        if (level >= Level.SEVERE.intValue()) {
            return now.error();
        }
        if (level >= Level.WARNING.intValue()) {
            return now.warning();
        }
        return level < Level.INFO.intValue() || now.info();
    }

    /** Helidon logs an error when a client connects at the moment in which the listener closes; it is none. */
    private static boolean isLateConnection(LogRecord record) {
        return record.getThrown() instanceof RejectedExecutionException
                && "io.helidon.webserver.ServerListener".equals(record.getLoggerName());
    }

    /** Writes each record through at once: a log that is read after a crash must hold its last line. */
    private static final class FlushingHandler extends StreamHandler {
        FlushingHandler(OutputStream out) {
            target(out);
            try {
                setEncoding(StandardCharsets.UTF_8.name());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Writes to {@code out} from now on, and closes the stream before it. */
        void target(OutputStream out) {
            setOutputStream(out);
        }

        @Override
        public void publish(LogRecord record) {
            super.publish(record);
            flush();
        }

        /** Leaves the stream open: lines may still come while the process ends. */
        @Override
        public void close() {
            flush();
        }
    }
}
