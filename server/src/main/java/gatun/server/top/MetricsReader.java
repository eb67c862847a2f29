// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Gets a server's page of metrics, as far as it comes within a time and a size. For one thread. */
final class MetricsReader implements AutoCloseable {
    /** The most bytes of a page that are read: 10,000 models of Gatun with all kinds of metrics take less. */
    private static final int BYTE_LIMIT = 32 << 20;

    private final HttpClient client;
    private final URI page;
    private final Duration limit;

    MetricsReader(URI page, Duration limit) {
        this.page = page;
        this.limit = limit;
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(limit)
                .build();
    }

    /** The metrics now; none where the page cannot be had in time. */
    ServerMetrics read() {
        AtomicReference<@Nullable ServerMetrics> found = new AtomicReference<>();
        AtomicReference<@Nullable InputStream> body = new AtomicReference<>();
        CountDownLatch read = new CountDownLatch(1);
        Thread reader = Thread.ofVirtual().name("metrics").start(() -> {
            try {
                found.set(get(body));
            } catch (IOException e) {
                found.set(ServerMetrics.NONE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                read.countDown();
            }
        });
        try {
            if (!read.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                reader.interrupt();
            }
        } catch (InterruptedException e) {
            reader.interrupt();
            Thread.currentThread().interrupt();
        }
        InputStream open = body.get();
        if (open != null) {
            close(open);
        }
        ServerMetrics metrics = found.get();
        return metrics == null ? ServerMetrics.NONE : metrics;
    }

    private ServerMetrics get(AtomicReference<@Nullable InputStream> body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(page).timeout(limit).build();
        HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        body.set(response.body());
        if (response.statusCode() != 200) {
            return ServerMetrics.NONE;
        }
        return ServerMetrics.parse(new String(response.body().readNBytes(BYTE_LIMIT), StandardCharsets.UTF_8));
    }

    private static void close(InputStream body) {
        try {
            body.close();
        } catch (IOException e) {
            // What was read is there, and the connection is of no more use.
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
