// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.context.Context;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The most connections that clients may have open at a time, over all listeners but that of the metrics. A connection
 * beyond a limit is refused when it is accepted, before anything is read from it.
 *
 * @param most connections in all
 * @param mostPerAddress connections from one IPv4 address, or from one IPv6 network of 64 bits; 0 for any number. Unix
 *     sockets have no address
 * @param handshakeLimit how long a client may take for its TLS handshake
 */
public record ConnectionLimits(int most, int mostPerAddress, Duration handshakeLimit) {
    /** A heap of 512 MiB holds these. One address, such as a proxy, may have three quarters. */
    public static final ConnectionLimits STANDARD = new ConnectionLimits(16_384, 12_288, TlsHandshakes.STANDARD_LIMIT);

    /** For the port of the metrics, which has its own limits, so that operators get in when clients have all others. */
    public static final ConnectionLimits OPERATORS = new ConnectionLimits(64, 0, TlsHandshakes.STANDARD_LIMIT);

    /** One of so many connections is left to other addresses when few are left. */
    private static final int LEFT_TO_OTHERS = 16;

    /** Checks all. */
    public ConnectionLimits {
        if (most < 1) {
            throw new IllegalArgumentException("the most connections are " + most + ": expected at least 1");
        }
        if (mostPerAddress < 0) {
            throw new IllegalArgumentException(
                    "the most connections of an address are " + mostPerAddress + ": expected 0 or more");
        }
        if (!handshakeLimit.isPositive()) {
            throw new IllegalArgumentException(
                    "the limit of a handshake is " + handshakeLimit + ": expected more than 0");
        }
    }

    /** These limits within {@code room} connections, at least one; one address leaves some to others. */
    public ConnectionLimits within(int room) {
        if (most <= room) {
            return this;
        }
        int fitting = Math.max(1, room);
        int perAddress = Math.min(mostPerAddress, fitting - fitting / LEFT_TO_OTHERS);
        return new ConnectionLimits(fitting, perAddress, handshakeLimit);
    }

    /** The objects that a listener's connections share; {@code executor} runs work beside the connections' threads. */
    record ListenerScope(
            ListenerConfig config,
            Router router,
            Context context,
            MediaContext mediaContext,
            ContentEncodingContext contentEncodingContext,
            DirectHandlers directHandlers,
            ExecutorService executor)
            implements ListenerContext {
        /** The same objects as Helidon would make from {@code config}. */
        static ListenerScope of(ListenerConfig config) {
            Router.Builder router = Router.builder();
            router.addRouting(config.routing().orElseGet(HttpRouting::builder));
            config.routings().forEach(router::addRouting);
            return new ListenerScope(
                    config,
                    router.build(),
                    Context.create(),
                    config.mediaContext().orElseGet(MediaContext::create),
                    config.contentEncoding().orElseGet(ContentEncodingContext::create),
                    config.directHandlers().orElseGet(DirectHandlers::create),
                    Executors.newVirtualThreadPerTaskExecutor());
        }
    }
}
