// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The errors that code under test catches and logs, of which no client may cause any. Safe for any thread. */
public final class LoggedFailures extends Handler {
    /** Held, since loggers that nobody holds are forgotten with their handlers. */
    private final Logger logger;

    private final AtomicReference<@Nullable LogRecord> first = new AtomicReference<>();

    private LoggedFailures(Logger logger) {
        this.logger = logger;
    }

    /**
     * Collects from now on the errors of the loggers whose names begin with {@code name}; they are logged nowhere else.
     */
    public static LoggedFailures of(String name) {
        LoggedFailures failures = new LoggedFailures(Logger.getLogger(name));
        failures.logger.setUseParentHandlers(false);
        failures.logger.addHandler(failures);
        return failures;
    }

    /**
     * Requires that no error was written since this was asked the last time.
     *
     * @throws AssertionError with the first that was
     */
    public void requireNone() {
        LogRecord written = first.getAndSet(null);
        if (written != null) {
            throw new AssertionError("the log has '" + written.getMessage() + "'", written.getThrown());
        }
    }

    @Override
    public void publish(LogRecord written) {
        if (written.getLevel().intValue() >= Level.SEVERE.intValue()) {
            first.compareAndSet(null, written);
        }
    }

    @Override
    public void flush() {
        // Nothing is kept back.
    }

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
