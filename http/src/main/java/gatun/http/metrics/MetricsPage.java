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
 * Renders the families of metrics that their owners publish, in the order of the owners. Counts and names nothing.
 * Thread-safe.
 *
 * <p>Two formats: OpenMetrics for those who accept it, else Prometheus' text 0.0.4. In OpenMetrics all counters end with
 * {@code _total}, which Triton's names do not.
 */
public final class MetricsPage {
    private static final Path PROC = Path.of("/proc");

    private final List<MetricSource> sources = new ArrayList<>();

    /**
     * A page about {@code server}.
     *
     * @param gpus publishes how busy GPUs are
     * @param open counts the connections of clients
     */
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

    /**
     * Writes the page for a request with this {@code Accept} header to {@code target}, with the present values, one line
     * after the other.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE when others have taken the heap that it needs
     */
    public void write(String accept, JsonWriter target) {
        PageWriter page = new PageWriter(TextFormat.accepted(accept), target);
        for (MetricSource source : sources) {
            source.publish(page);
        }
        page.end();
    }
}
