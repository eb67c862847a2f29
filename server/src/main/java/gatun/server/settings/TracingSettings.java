// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.tracing.TraceExporter;
import gatun.runtime.tracing.TraceFile;
import gatun.runtime.tracing.TraceSettings;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import gatun.runtime.tracing.Tracing;
import gatun.server.opentelemetry.CollectorSettings;
import gatun.server.opentelemetry.OpenTelemetryExporter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The choice of traced requests. {@code collector} gets the traces if {@code openTelemetry}, else {@code file}. */
public record TracingSettings(
        TraceSettings settings, Optional<Path> file, boolean openTelemetry, CollectorSettings collector) {
    private static final Logger LOG = LoggerFactory.getLogger(TracingSettings.class);

    /** No traces. */
    public static final TracingSettings OFF =
            new TracingSettings(TraceSettings.off(), Optional.empty(), false, CollectorSettings.STANDARD);

    /** Checks that nothing is missing. */
    public TracingSettings {
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(collector, "collector");
    }

    /** The caller closes it. Throws {@link StartException} for contradictions, and a file that cannot be written. */
    public Tracing open() {
        if (openTelemetry) {
            return new Tracing(settings, openCollector());
        }
        if (!settings.levels().isEmpty() && file.isEmpty()) {
            throw new StartException("--trace-config names a level, but not where traces are to be written;"
                    + " add --trace-config=triton,file=PATH, or --trace-config=mode=opentelemetry");
        }
        if (settings.rate() == 0) {
            throw new StartException(
                    "--trace-config=rate=0 traces the requests of clients that ask for it, and they can do so"
                            + " only with --trace-config=mode=opentelemetry; name a rate from 1 up, or that mode");
        }
        file.ifPresent(named -> WritableFile.require("--trace-config=triton,file", named));
        return new Tracing(settings, file.map(TraceFile::to).orElseGet(TraceFile::nowhere));
    }

    private TraceExporter openCollector() {
        CollectorSettings fitted = collector.fitted();
        if (fitted.maxBatchSize() > fitted.maxQueueSize()) {
            throw new StartException("--trace-config=opentelemetry,bsp_max_export_batch_size="
                    + fitted.maxBatchSize() + " is more than may wait; name at most bsp_max_queue_size, which is "
                    + fitted.maxQueueSize());
        }
        if (settings.levels().contains(TraceLevel.TENSORS)) {
            LOG.warn("--trace-config=level=TENSORS has no effect with mode=opentelemetry: tensors are not sent");
        }
        return OpenTelemetryExporter.to(fitted);
    }

    /** The same for other requests. */
    public TracingSettings withSettings(TraceSettings other) {
        return new TracingSettings(other, file, openTelemetry, collector);
    }

    /** The same with another file. */
    public TracingSettings withFile(Path other) {
        return new TracingSettings(settings, Optional.of(other), openTelemetry, collector);
    }

    /** The same with traces going to the collector, or to the file. */
    public TracingSettings withOpenTelemetry(boolean chosen) {
        return new TracingSettings(settings, file, chosen, collector);
    }

    /** The same with another collector. */
    public TracingSettings withCollector(CollectorSettings other) {
        return new TracingSettings(settings, file, openTelemetry, other);
    }
}
