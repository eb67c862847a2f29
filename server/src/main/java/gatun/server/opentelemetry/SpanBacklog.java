// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.net.URI;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Limits the spans between a trace's end and the collector, counts and logs dropped ones. Thread-safe. */
final class SpanBacklog {
    private static final Logger LOG = LoggerFactory.getLogger(SpanBacklog.class);

    private final URI url;
    private final long limit;
    private final AtomicLong waiting = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();

    /** Whether the log has said that spans are dropped, and not since that they are sent again. */
    private final AtomicBoolean dropping = new AtomicBoolean();

    SpanBacklog(URI url, long limit) {
        this.url = url;
        this.limit = limit;
    }

    /** Whether the spans of one trace may wait: then all are recorded; otherwise they count as dropped. */
    boolean admits(int spans) {
        if (waiting.addAndGet(spans) <= limit) {
            return true;
        }
        waiting.addAndGet(-spans);
        drop(spans, "more than " + limit + " spans wait");
        return false;
    }

    SpanExporter before(SpanExporter sender) {
        return new Watched(sender);
    }

    /** How many spans were dropped so far. */
    long dropped() {
        return dropped.get();
    }

    /** Logs how many spans were dropped in all, if any were. Spans that still wait count as dropped. */
    void close() {
        long lost = dropped.get() + waiting.get();
        if (lost > 0) {
            LOG.warn("{} spans of traces were not sent to {}", lost, url);
        }
    }

    private void drop(int spans, String reason) {
        dropped.addAndGet(spans);
        if (dropping.compareAndSet(false, true)) {
            LOG.warn("Traces cannot be sent to {} and are dropped: {}", url, reason);
        }
    }

    private void sent(int spans, CompletableResultCode outcome) {
        waiting.addAndGet(-spans);
        if (!outcome.isSuccess()) {
            drop(spans, reason(outcome));
        } else if (dropping.compareAndSet(true, false)) {
            LOG.info("Traces are sent to {} again; {} spans were dropped so far", url, dropped.get());
        }
    }

    private static String reason(CompletableResultCode outcome) {
        return Optional.ofNullable(outcome.getFailureThrowable())
                .map(Throwable::toString)
                .orElse("it does not take them");
    }

    private final class Watched implements SpanExporter {
        private final SpanExporter sender;

        Watched(SpanExporter sender) {
            this.sender = sender;
        }

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            int count = spans.size();
            CompletableResultCode outcome = sender.export(spans);
            return outcome.whenComplete(() -> sent(count, outcome));
        }

        @Override
        public CompletableResultCode flush() {
            return sender.flush();
        }

        @Override
        public CompletableResultCode shutdown() {
            return sender.shutdown();
        }
    }
}
