// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.listener.ClientError.ClientErrors;
import gatun.memory.buffers.Sender;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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

    /** A client's key, its {@linkplain Sender#network network}; null where addresses are not counted. */
    private @Nullable Object key(SocketAddress address) {
        if (limits.mostPerAddress() == 0 || !(address instanceof InetSocketAddress tcp)) {
            return null;
        }
        return Sender.network(tcp.getAddress());
    }

    /** Why a connection is refused. */
    public enum ConnectionRefusal {
        /** There are as many as the server takes. */
        SERVER,
        /** There are as many from its address as one address may have. */
        ADDRESS
    }
}
