// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class SpanBacklogTest {
    private final SpanBacklog backlog = new SpanBacklog(URI.create("http://collector"), 10);
    private final Responses responses = new Responses();
    private final SpanExporter sender = backlog.before(responses);

    /** A collector that answers when the test says so. */
    private static final class Responses implements SpanExporter {
        private final Queue<CompletableResultCode> open = new ArrayDeque<>();

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            CompletableResultCode outcome = new CompletableResultCode();
            open.add(outcome);
            return outcome;
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    private static Collection<SpanData> spans(int count) {
        return Collections.nCopies(count, null);
    }

    @Test
    void shouldHaveRoomAgainWhenTheCollectorHasAnswered() {
        assertThat(backlog.admits(6)).isTrue();
        assertThat(backlog.admits(5)).isFalse();
        assertThat(backlog.admits(4)).isTrue();
        sender.export(spans(6));
        assertThat(backlog.admits(1)).isFalse();
        responses.open.remove().succeed();
        assertThat(backlog.admits(6)).isTrue();
        assertThat(backlog.dropped()).isEqualTo(6);
    }

    @Test
    void shouldCountWhatTheCollectorDoesNotTake() {
        assertThat(backlog.admits(10)).isTrue();
        sender.export(spans(7));
        sender.export(spans(3));
        responses.open.remove().failExceptionally(new IllegalStateException("full"));
        responses.open.remove().succeed();
        assertThat(backlog.dropped()).isEqualTo(7);
        assertThat(backlog.admits(10)).isTrue();
    }
}
