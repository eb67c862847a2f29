// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests to stores, with timeouts and without redirects into the operator's network. Thread-safe. */
public final class StoreHttp implements AutoCloseable {
    private static final int ERROR_BYTES = 4096;
    private static final int SHOWN_CHARACTERS = 200;
    private static final Pattern SAID = Pattern.compile(
            "<(?:Code|Message)>([^<]{1,200})|\"(?:message|error_description)\"\\s*:\\s*\"([^\"]{1,200})");
    private static final Pattern LONG_WORD = Pattern.compile("[^\\s]{33,}");

    private final HttpClient client;
    private final StoreLimits limits;

    /** A client with these limits. */
    public StoreHttp(StoreLimits limits) {
        this.limits = limits;
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(limits.timeout())
                .build();
    }

    /** A response. The caller closes it. */
    public record StoreResponse(int status, HttpHeaders head, InputStream body) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            body.close();
        }

        /** What a body says of an error: code and message, without words long enough for secrets. */
        public String excerpt() {
            try {
                String text = new String(body.readNBytes(ERROR_BYTES), StandardCharsets.UTF_8);
                Matcher matcher = SAID.matcher(text);
                StringBuilder shown = new StringBuilder();
                while (matcher.find() && shown.length() < SHOWN_CHARACTERS) {
                    String said = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
                    shown.append(shown.isEmpty() ? "" : ", ")
                            .append(LONG_WORD.matcher(said).replaceAll("...").replaceAll("[\\p{Cntrl}\\s]+", " "));
                }
                return shown.isEmpty() ? "without a reason" : shown.toString();
            } catch (IOException e) {
                return "without a reason that could be read";
            }
        }
    }

    /**
     * Sends a request once; any status is a response. The body has at most {@code byteLimit} bytes. Throws {@link
     * StoreException} UNAVAILABLE when no response comes.
     */
    public StoreResponse send(HttpRequest.Builder request, long byteLimit) throws IOException {
        HttpRequest built = request.timeout(limits.timeout()).build();
        String host = built.uri().getHost();
        try {
            HttpResponse<InputStream> response = client.send(built, HttpResponse.BodyHandlers.ofInputStream());
            return new StoreResponse(
                    response.statusCode(),
                    response.headers(),
                    new BoundedBody(response.body(), byteLimit, limits.leastBytes(), limits.timeout()));
        } catch (HttpTimeoutException e) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    host + " did not answer within " + limits.timeout().toSeconds() + " s (--store-timeout-secs)",
                    e);
        } catch (IOException e) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    isOfCertificate(e)
                            ? host + " has a certificate that is not trusted here: " + reason(e)
                                    + "; name a file with those that are by"
                                    + " GATUN_JAVA_OPTS=-Djavax.net.ssl.trustStore=FILE"
                            : host + " cannot be reached: " + reason(e),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "interrupted while " + host + " was asked", e);
        }
    }

    private static boolean isOfCertificate(IOException failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof CertificateException) {
                return true;
            }
        }
        return false;
    }

    private static String reason(IOException failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t.getMessage() != null) {
                // Of a response that is none, it holds what came.
                return ObjectPath.printable(t.getMessage());
            }
        }
        // The JDK's client says no more of either.
        return failure instanceof ConnectException
                ? "there is no such host, or nobody listens there"
                : failure.getClass().getSimpleName();
    }

    @Override
    public void close() {
        client.shutdownNow();
    }

    /**
     * A body that throws when it is too large or too slow. One thread watches all bodies and closes late ones, since
     * the JDK's client has a timeout for the head of a response only.
     */
    static final class BoundedBody extends FilterInputStream {
        private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("store-transfer-watch").factory());

        private final long byteLimit;
        private final long leastBytes;
        private final AtomicLong received = new AtomicLong();
        private final Future<?> watch;
        private long seen;
        private volatile boolean tooSlow;

        BoundedBody(InputStream body, long byteLimit, long leastBytes, Duration timeout) {
            super(body);
            this.byteLimit = byteLimit;
            this.leastBytes = leastBytes;
            watch = WATCH.scheduleWithFixedDelay(
                    this::look, timeout.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
        }

        private void look() {
            long now = received.get();
            if (now - seen < leastBytes) {
                tooSlow = true;
                try {
                    in.close();
                } catch (IOException e) {
                    // The reader gets its own.
                }
            }
            seen = now;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int n;
            try {
                n = super.read(bytes, offset, length);
            } catch (IOException e) {
                requireSpeed(e);
                throw e;
            }
            if (n < 0) {
                requireSpeed(null);
                return n;
            }
            if (received.addAndGet(n) > byteLimit) {
                throw new StoreException(
                        StoreException.Kind.LIMIT,
                        "the store sends more than the " + byteLimit + " bytes that are expected");
            }
            return n;
        }

        private void requireSpeed(@org.jspecify.annotations.Nullable IOException cause) throws StoreException {
            if (tooSlow) {
                throw new StoreException(
                        StoreException.Kind.UNAVAILABLE,
                        "the store sent fewer than " + leastBytes + " bytes within the timeout (--store-timeout-secs)",
                        cause == null ? new IOException("closed") : cause);
            }
        }

        @Override
        public long skip(long count) throws IOException {
            throw new UnsupportedOperationException("bodies are read");
        }

        @Override
        public void close() throws IOException {
            watch.cancel(false);
            super.close();
        }
    }
}
