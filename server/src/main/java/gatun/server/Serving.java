// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.runtime.logging.AccessLog;
import gatun.server.logging.AccessLogWriter;
import gatun.server.logging.Log;
import gatun.server.settings.LoggingSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.server.text.Version;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One run of {@code gatun serve}: from the flags to the exit status. */
final class Serving {
    private static final int STOPPED = 0;
    private static final int FAILED = 1;

    private final long startedAt;

    /** {@code startedAt} is a reading of {@link System#nanoTime}. */
    Serving(long startedAt) {
        this.startedAt = startedAt;
    }

    /** Serves until SIGTERM or SIGINT. Returns 0, or 1 when the server could not start or not stop cleanly. */
    int run(ServerSettings settings, LoggingSettings logging, List<String> warnings) {
        StopSignals signals = StopSignals.install();
        Log logControl;
        Optional<AccessLogWriter> accessLog;
        try {
            logControl = Log.install(logging.log(), logging.rotation());
            accessLog = logging.access().map(access -> AccessLogWriter.open(access, logging.rotation()));
        } catch (UncheckedIOException e) {
            System.err.println("gatun: " + e.getMessage());
            return FAILED;
        }
        Logger log = LoggerFactory.getLogger(Serving.class);
        warnings.forEach(log::warn);
        Failures.install();
        log.info("Gatun {} on Java {}", Version.text(), Runtime.version());
        StartReport report = StartReport.standard();
        AtomicBoolean started = new AtomicBoolean();
        signals.whenTold(() -> {
            if (!started.get()) {
                log.info("Told to stop during the start, which ends");
                StopDeadline.start(settings.lifecycle().exitTimeout());
            }
        });
        try (Server server = Server.start(
                settings,
                logControl,
                accessLog.<AccessLog>map(writer -> writer).orElse(AccessLog.OFF),
                report,
                signals)) {
            if (!signals.isTold()) {
                started.set(true);
                Preparation.forRequests();
                report.ready(server.endpoints(), Duration.ofNanos(System.nanoTime() - startedAt));
                signals.onHangUp(() -> {
                    logControl.reopen();
                    accessLog.ifPresent(AccessLogWriter::reopen);
                    server.reopen();
                });
                signals.await();
                drain(server, settings.lifecycle().drain(), signals, log);
            }
            log.info(
                    "Stopping: no new connections, and {} s for running requests to finish",
                    settings.lifecycle().exitTimeout().toSeconds());
            if (started.get()) {
                StopDeadline.start(settings.lifecycle().exitTimeout());
            }
        } catch (StartException e) {
            log.error("{}", e.getMessage());
            return FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED;
        } catch (RuntimeException e) {
            log.error("The server failed", e);
            return FAILED;
        } finally {
            accessLog.ifPresent(AccessLogWriter::close);
        }
        log.info("Stopped; the process ends");
        return STOPPED;
    }

    private static void drain(Server server, Duration drain, StopSignals signals, Logger log)
            throws InterruptedException {
        if (drain.isZero()) {
            return;
        }
        log.info("Draining for {} s: not ready, and serving what still comes", drain.toSeconds());
        server.drain();
        signals.awaitDrain(drain);
    }

    /** Ends a process whose stop hangs, for example in an engine that does not return. */
    static final class StopDeadline {
        private static final Duration BEYOND_GRACE = Duration.ofSeconds(10);
        private static final int HUNG = 1;

        private StopDeadline() {}

        /** From now on, the process must end within {@code grace} and some seconds to clean up. */
        static void start(Duration grace) {
            Thread.ofPlatform().daemon().name("stop-deadline").start(() -> {
                try {
                    Thread.sleep(grace.plus(BEYOND_GRACE));
                } catch (InterruptedException e) {
                    return;
                }
                Logger log = LoggerFactory.getLogger(Serving.class);
                log.error(
                        "The stop took longer than {} s; the process ends now",
                        grace.plus(BEYOND_GRACE).toSeconds());
                Runtime.getRuntime().halt(HUNG);
            });
        }
    }
}
