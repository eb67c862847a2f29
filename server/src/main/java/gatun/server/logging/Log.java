package gatun.server.logging;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.logging.Filter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;

/** Sends everything that is logged through SLF4J or {@code java.util.logging} to one place. */
public final class Log {
    /** Chatty at their own INFO level; heard only when asked for. Kept here, since the log forgets loggers nobody holds. */
    private static final List<Logger> LIBRARIES = new ArrayList<>();

    private Log() {}

    /**
     * Replaces what was configured before. Called once, before the first line is logged.
     *
     * @throws UncheckedIOException when the log file cannot be opened; the text names it
     */
    public static void install(LogSettings settings) {
        Handler handler = new FlushingHandler(
                settings.file().map(Log::append).orElse(System.err),
                new LineFormatter(settings.format(), ProcessHandle.current().pid()));
        handler.setFilter(severities(settings));
        handler.setLevel(Level.ALL);

        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.setLevel(settings.verbosity() > 1 ? Level.ALL : Level.INFO);
        root.addHandler(handler);
        level("gatun", settings.verbosity() > 0 ? Level.ALL : Level.INFO);
        if (settings.verbosity() < 2) {
            level("io.helidon", Level.WARNING);
            // Only reads clients' headers, and would let a client fill the log with what it cannot read.
            level("org.eclipse.jetty", Level.SEVERE);
        }
    }

    private static void level(String name, Level level) {
        Logger logger = Logger.getLogger(name);
        logger.setLevel(level);
        LIBRARIES.add(logger);
    }

    private static OutputStream append(Path file) {
        try {
            return new FileOutputStream(file.toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "--log-file=" + file + " cannot be written: " + e.getMessage()
                            + "; name a file in a folder that exists and that this user may write to",
                    e);
        }
    }

    /** Each severity can be switched off alone, as with Triton's flags. */
    private static Filter severities(LogSettings settings) {
        return record -> {
            if (isLateConnection(record)) {
                return false;
            }
            int level = record.getLevel().intValue();
            if (level >= Level.SEVERE.intValue()) {
                return settings.error();
            }
            if (level >= Level.WARNING.intValue()) {
                return settings.warning();
            }
            return level < Level.INFO.intValue() || settings.info();
        };
    }

    /** Helidon calls it an error when a client connects in the moment in which the listener closes; it is none. */
    private static boolean isLateConnection(LogRecord record) {
        return record.getThrown() instanceof RejectedExecutionException
                && "io.helidon.webserver.ServerListener".equals(record.getLoggerName());
    }

    /** Writes each record through at once: a log that is read after a crash must hold its last line. */
    private static final class FlushingHandler extends StreamHandler {
        FlushingHandler(OutputStream out, LineFormatter formatter) {
            super(out, formatter);
            try {
                setEncoding(StandardCharsets.UTF_8.name());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
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
