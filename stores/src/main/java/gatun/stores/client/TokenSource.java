// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import gatun.stores.client.StoreException.Kind;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An OAuth 2 token that is fetched when it is first needed, and anew before it expires. Safe for any thread. */
public final class TokenSource {
    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(5);
    private static final int BYTE_LIMIT = 1 << 16;

    private final StoreHttp http;
    private final String service;
    private final TokenRequest request;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock, as is its end. */
    private @Nullable String token;

    private Instant expiry = Instant.EPOCH;

    /** Makes the request for a token. */
    public interface TokenRequest {
        /** A new one for each token, since it may hold a time. */
        HttpRequest.Builder make() throws IOException;
    }

    /** A source that has not asked yet. {@code service} is its name in errors. */
    public TokenSource(StoreHttp http, String service, TokenRequest request) {
        this.http = http;
        this.service = service;
        this.request = request;
    }

    /** Throws {@link StoreException} DENIED when the service gives none, UNAVAILABLE when it does not answer. */
    public String get() throws IOException {
        lock.lock();
        try {
            String known = token;
            if (known == null || Instant.now().plus(BEFORE_EXPIRY).isAfter(expiry)) {
                known = fetch();
                token = known;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    /** The token; empty where nothing answers, as on a machine that is not in a cloud. */
    public Optional<String> ifAnswered() throws IOException {
        try {
            return Optional.of(get());
        } catch (StoreException e) {
            if (e.kind() == Kind.UNAVAILABLE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private String fetch() throws IOException {
        try (StoreHttp.StoreResponse response = http.send(request.make(), BYTE_LIMIT)) {
            if (response.status() != 200) {
                throw new StoreException(
                        Kind.DENIED,
                        service + " gave no token (status " + response.status() + ": " + response.excerpt() + ")");
            }
            Map<String, Object> values =
                    JsonTree.object(new String(response.body().readAllBytes(), StandardCharsets.UTF_8));
            String found = JsonTree.text(values, "access_token");
            if (found.isEmpty()) {
                throw new StoreException(Kind.DENIED, service + " gave no token");
            }
            String seconds = JsonTree.text(values, "expires_in");
            expiry = Instant.now().plusSeconds(Math.clamp(seconds.isEmpty() ? 0 : Long.parseLong(seconds), 0, 86_400));
            if (!found.matches("[\\x21-\\x7e]+")) {
                throw new StoreException(Kind.DENIED, service + " gave a token that is none");
            }
            return found;
        } catch (JsonProcessingException | NumberFormatException e) {
            throw new StoreException(Kind.DENIED, service + " gave no token that can be read");
        }
    }
}
