// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static java.nio.charset.StandardCharsets.US_ASCII;

import gatun.listener.ClientError.ClientErrors;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import io.helidon.common.context.Context;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Counts the connections of all listeners that share limits, and says whether there may be one more. Thread-safe. */
public final class OpenConnections implements MetricSource {
    private volatile ConnectionLimits limits;
    private final Function<ConnectionRefusal, String> settings;
    private final ClientErrors errors = new ClientErrors();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private int open;
    private final Map<WireProtocol, Integer> openOf = new EnumMap<>(WireProtocol.class);
    private final Map<ConnectionRefusal, Long> refused = new EnumMap<>(ConnectionRefusal.class);

    /** By {@link #key}; holds an address only while it has a connection. */
    private final Map<Object, Integer> openFrom = new HashMap<>();

    /** No connections yet. */
    public OpenConnections(ConnectionLimits limits) {
        this(limits, refusal -> "a limit");
    }

    /** No connections yet; {@code settings} tells what the operator calls the limit behind a refusal. */
    public OpenConnections(ConnectionLimits limits, Function<ConnectionRefusal, String> settings) {
        this.limits = limits;
        this.settings = settings;
    }

    /** The limits. */
    public ConnectionLimits limits() {
        return limits;
    }

    /** Has other limits hold. To be called before the first connection, which is counted by them. */
    public void limit(ConnectionLimits other) {
        limits = other;
    }

    /** The errors of the clients of these connections. */
    public ClientErrors errors() {
        return errors;
    }

    /** Counts a connection from {@code address} until {@link #closed}, or returns the limit that refuses it. */
    Optional<ConnectionRefusal> admit(WireProtocol protocol, SocketAddress address) {
        lock.lock();
        try {
            Object key = key(address);
            Optional<ConnectionRefusal> refusal = refusal(key);
            if (refusal.isPresent()) {
                refused.merge(refusal.get(), 1L, Long::sum);
                return refusal;
            }
            open++;
            openOf.merge(protocol, 1, Integer::sum);
            if (key != null) {
                openFrom.merge(key, 1, Integer::sum);
            }
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    private Optional<ConnectionRefusal> refusal(@Nullable Object key) {
        if (open >= limits.most()) {
            return Optional.of(ConnectionRefusal.SERVER);
        }
        boolean tooMany = key != null && openFrom.getOrDefault(key, 0) >= limits.mostPerAddress();
        return tooMany ? Optional.of(ConnectionRefusal.ADDRESS) : Optional.empty();
    }

    /** The text for a client whose connection is refused, with the setting by which the operator changes the limit. */
    String text(ConnectionRefusal refusal) {
        String who = refusal == ConnectionRefusal.SERVER ? "the server has" : "your address has";
        int most = refusal == ConnectionRefusal.SERVER ? limits.most() : limits.mostPerAddress();
        return who + " as many connections as " + settings.apply(refusal) + "=" + most
                + " allows; use fewer connections, or try again later";
    }

    void closed(WireProtocol protocol, SocketAddress address) {
        lock.lock();
        try {
            open--;
            openOf.merge(protocol, -1, Integer::sum);
            Object key = key(address);
            if (key != null) {
                int left = openFrom.merge(key, -1, Integer::sum);
                if (left == 0) {
                    openFrom.remove(key);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many connections of {@code protocol} are open. */
    public int open(WireProtocol protocol) {
        lock.lock();
        try {
            return openOf.getOrDefault(protocol, 0);
        } finally {
            lock.unlock();
        }
    }

    /** How many connections were refused because of {@code refusal} so far. */
    public long refused(ConnectionRefusal refusal) {
        lock.lock();
        try {
            return refused.getOrDefault(refusal, 0L);
        } finally {
            lock.unlock();
        }
    }

    /** Open connections by protocol, refused ones by limit, and ended ones by protocol and client's fault. */
    @Override
    public void publish(MetricSink sink) {
        List<WireProtocol> protocols = List.of(WireProtocol.values());
        sink.add(
                Measure.gauge(
                        "gatun_connections",
                        "Number of connections that clients have open, those to the metrics' port not counted",
                        this::open),
                MetricRows.of(protocols, OpenConnections::labels));
        sink.add(
                Measure.counter(
                        "gatun_connections_refused",
                        "Number of connections that were refused because there were too many",
                        this::refused),
                MetricRows.of(
                        List.of(ConnectionRefusal.values()),
                        refusal -> Labels.of("limit", refusal.name().toLowerCase(Locale.ROOT))));
        List<MetricRows.Row<Long>> ended = new ArrayList<>();
        for (WireProtocol protocol : protocols) {
            for (ClientError error : ClientError.values()) {
                ended.add(new MetricRows.Row<>(
                        labels(protocol).with("cause", error.label()), errors.count(protocol, error)));
            }
        }
        sink.add(
                Measure.counter(
                        "gatun_client_errors",
                        "Number of connections that ended because of what their clients did",
                        Long::doubleValue),
                MetricRows.of(ended));
    }

    private static Labels labels(WireProtocol protocol) {
        return Labels.of("protocol", protocol.label());
    }

    /** A client's key, its {@linkplain ClientQuotaKey#network network}; null where addresses are not counted. */
    private @Nullable Object key(SocketAddress address) {
        if (limits.mostPerAddress() == 0 || !(address instanceof InetSocketAddress tcp)) {
            return null;
        }
        return ClientQuotaKey.network(tcp.getAddress());
    }

    /** Why a connection is refused. */
    public enum ConnectionRefusal {
        /** There are as many as the server takes. */
        SERVER,
        /** There are as many from its address as one address may have. */
        ADDRESS
    }

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
        public static final ConnectionLimits STANDARD =
                new ConnectionLimits(16_384, 12_288, TlsHandshakes.STANDARD_LIMIT);

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

    /** The protocol that is spoken first on the connections of a listener. */
    public enum WireProtocol {
        /** HTTP/1.1. */
        HTTP("http"),
        /** HTTP/1.1 over TLS. */
        HTTPS("https"),
        /** gRPC. */
        GRPC("grpc"),
        /** gRPC over TLS. */
        GRPCS("grpcs");

        private static final int SETTINGS = 4;
        private static final int GOAWAY = 7;
        private static final int FRAME_HEADER_SIZE = 9;

        private final String label;

        WireProtocol(String label) {
            this.label = label;
        }

        /** Its name in metrics. */
        public String label() {
            return label;
        }

        /** Bytes for a connection refused for {@code reason}, plain ASCII; none before a TLS handshake. */
        byte[] refusal(String reason) {
            return switch (this) {
                case HTTP -> httpRefusal(reason);
                case GRPC -> grpcRefusal(reason);
                case HTTPS, GRPCS -> new byte[0];
            };
        }

        private static byte[] httpRefusal(String reason) {
            String body = "{\"error\":\"" + reason + "\"}";
            return ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: "
                            + body.length() + "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + body)
                    .getBytes(US_ASCII);
        }

        /** GOAWAY before any stream: clients take their calls for not begun, and UNAVAILABLE. */
        private static byte[] grpcRefusal(String reason) {
            byte[] text = reason.getBytes(US_ASCII);
            int payload = 2 * Integer.BYTES + text.length;
            return ByteBuffer.allocate(2 * FRAME_HEADER_SIZE + payload)
                    .putInt(SETTINGS)
                    .put((byte) 0)
                    .putInt(0)
                    .putInt(payload << Byte.SIZE | GOAWAY)
                    .put((byte) 0)
                    .putInt(0)
                    .putInt(0) // the last stream
                    .putInt(0) // NO_ERROR
                    .put(text)
                    .array();
        }
    }
}
