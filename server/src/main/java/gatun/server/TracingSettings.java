package gatun.server;

import gatun.runtime.tracing.TraceSettings;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * Which requests are traced, and where their traces go.
 *
 * @param settings which requests
 * @param file where traces are written to; empty for nowhere
 */
public record TracingSettings(TraceSettings settings, Optional<Path> file) {
    /** No traces. */
    public static final TracingSettings OFF = new TracingSettings(TraceSettings.off(), Optional.empty());

    /** Checks that nothing is missing. */
    public TracingSettings {
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(file, "file");
    }

    /** The same for other requests. */
    public TracingSettings withSettings(TraceSettings other) {
        return new TracingSettings(other, file);
    }

    /** The same with another file. */
    public TracingSettings withFile(Path other) {
        return new TracingSettings(settings, Optional.of(other));
    }
}
