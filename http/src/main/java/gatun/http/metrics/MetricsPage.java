// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.json.JsonWriter;
import gatun.listener.OpenConnections;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.runtime.metrics.HostUsage;
import gatun.runtime.metrics.JvmMetrics;
import gatun.runtime.metrics.ProcessMetrics;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.server.RuntimeMetrics;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Renders the metrics that their owners publish, in their order. Two formats: OpenMetrics for those who accept it,
 * where counters end with {@code _total}, which Triton's names do not; else Prometheus' text 0.0.4. Thread-safe.
 */
public final class MetricsPage {
    private static final Path PROC = Path.of("/proc");

    private final List<MetricSource> sources = new ArrayList<>();

    /** A page about {@code server}; {@code gpus} publishes how busy GPUs are, {@code open} counts connections. */
    public MetricsPage(InferenceServer server, ShownMetrics shown, MetricSource gpus, OpenConnections open) {
        sources.add(new RuntimeMetrics(server, shown.latencies()));
        sources.add(open);
        sources.add(server.accessLog());
        shown.hostInterval().ifPresent(interval -> sources.add(new HostUsage(PROC, interval, System::nanoTime)));
        sources.add(new ProcessMetrics(PROC));
        sources.add(JvmMetrics::publish);
        sources.add(sink -> CudaDevices.find().publish(sink));
        sources.add(gpus);
    }

    /** The content type of the page for a request with this {@code Accept} header; empty for a request without one. */
    public String contentType(String accept) {
        return TextFormat.accepted(accept).contentType();
    }

    /** Writes the page for an {@code Accept} header, line after line. Throws UNAVAILABLE when others have the heap. */
    public void write(String accept, JsonWriter target) {
        PageWriter page = new PageWriter(TextFormat.accepted(accept), target);
        for (MetricSource source : sources) {
            source.publish(page);
        }
        page.end();
    }
}
