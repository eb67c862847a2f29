// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The settings of a collector that takes traces by OpenTelemetry's protocol over HTTP (OTLP).
 *
 * @param url the collector's address as the operator wrote it; without a scheme it is {@code http}
 * @param resource the attributes of this server that each trace has, by name
 * @param maxQueueSize the most spans that may wait until they are sent; more are dropped
 * @param scheduleDelay how long spans wait for others to be sent with them; not negative
 * @param maxBatchSize the most spans that are sent at a time; not more than may wait
 */
public record CollectorSettings(
        String url, Map<String, String> resource, int maxQueueSize, Duration scheduleDelay, int maxBatchSize) {
    /** A collector on this machine, and else Triton's settings: its name for the service, OpenTelemetry's numbers. */
    public static final CollectorSettings STANDARD = new CollectorSettings(
            "http://localhost:4318/v1/traces",
            Map.of("service.name", "triton-inference-server"),
            2048,
            Duration.ofSeconds(5),
            512);

    /** Keeps a copy of the resource. */
    public CollectorSettings {
        resource = Map.copyOf(resource);
    }

    /** The same; a batch size of the standard shrinks to the number of spans that may wait. */
    public CollectorSettings fitted() {
        return maxBatchSize == STANDARD.maxBatchSize ? withMaxBatchSize(Math.min(maxBatchSize, maxQueueSize)) : this;
    }

    URI address() {
        return address(url);
    }

    /** The address that {@code url} stands for. Throws {@link IllegalArgumentException} when it is no URI. */
    public static URI address(String url) {
        return URI.create(url.contains("://") ? url : "http://" + url);
    }

    /** The same with another address. */
    public CollectorSettings withUrl(String other) {
        return new CollectorSettings(other, resource, maxQueueSize, scheduleDelay, maxBatchSize);
    }

    /** The same with one more attribute of this server, or another value for it. */
    public CollectorSettings withResource(String name, String value) {
        Map<String, String> more = new HashMap<>(resource);
        more.put(name, value);
        return new CollectorSettings(url, more, maxQueueSize, scheduleDelay, maxBatchSize);
    }

    /** The same for another number of waiting spans. */
    public CollectorSettings withMaxQueueSize(int other) {
        return new CollectorSettings(url, resource, other, scheduleDelay, maxBatchSize);
    }

    /** The same with another delay. */
    public CollectorSettings withScheduleDelay(Duration other) {
        return new CollectorSettings(url, resource, maxQueueSize, other, maxBatchSize);
    }

    /** The same with another batch size. */
    public CollectorSettings withMaxBatchSize(int other) {
        return new CollectorSettings(url, resource, maxQueueSize, scheduleDelay, other);
    }
}
