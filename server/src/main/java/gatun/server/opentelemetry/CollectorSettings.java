// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Who takes traces by OpenTelemetry's protocol over HTTP (OTLP), and how they are brought there.
 *
 * @param url where to; {@code http} or {@code https}
 * @param resource what each trace tells of this server, by name
 * @param maxQueueSize how many spans may wait until they are sent; more are dropped
 * @param scheduleDelay how long spans wait for more to be sent with them
 * @param maxBatchSize how many spans are sent at a time; not more than may wait
 */
public record CollectorSettings(
        URI url, Map<String, String> resource, int maxQueueSize, Duration scheduleDelay, int maxBatchSize) {
    /**
     * A collector on this machine, and otherwise what Triton does: its name for the service, OpenTelemetry's numbers.
     */
    public static final CollectorSettings STANDARD = new CollectorSettings(
            URI.create("http://localhost:4318/v1/traces"),
            Map.of("service.name", "triton-inference-server"),
            2048,
            Duration.ofSeconds(5),
            512);

    /** Keeps a copy of the resource. */
    public CollectorSettings {
        resource = Map.copyOf(resource);
    }

    /** The same elsewhere. */
    public CollectorSettings withUrl(URI other) {
        return new CollectorSettings(other, resource, maxQueueSize, scheduleDelay, maxBatchSize);
    }

    /** The same with one thing more told of this server, or another value for it. */
    public CollectorSettings withResource(String name, String value) {
        Map<String, String> more = new HashMap<>(resource);
        more.put(name, value);
        return new CollectorSettings(url, more, maxQueueSize, scheduleDelay, maxBatchSize);
    }

    /** The same for another number of waiting spans. */
    public CollectorSettings withMaxQueueSize(int other) {
        return new CollectorSettings(url, resource, other, scheduleDelay, maxBatchSize);
    }

    /** The same with another time to wait. */
    public CollectorSettings withScheduleDelay(Duration other) {
        return new CollectorSettings(url, resource, maxQueueSize, other, maxBatchSize);
    }

    /** The same with other batches. */
    public CollectorSettings withMaxBatchSize(int other) {
        return new CollectorSettings(url, resource, maxQueueSize, scheduleDelay, other);
    }
}
