package gatun.http.connection;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Socket options that keep the channel of each accepted socket until its connection asks for it. Helidon shows a channel to
 * nobody but the socket options, and the connection that is made of it knows only a name: the identity hash of the channel.
 * Safe for any thread.
 */
final class AcceptedChannels implements SocketOptions {
    /** As many channels may wait before those whose connection never came are dropped. */
    private static final int SWEEP_SIZE = 64;

    private final SocketOptions options;
    private final ConcurrentHashMap<String, SocketChannel> waiting = new ConcurrentHashMap<>();

    /** Sets the options of each socket as {@code options} does. */
    AcceptedChannels(SocketOptions options) {
        this.options = options;
    }

    /** The channel of the connection that Helidon calls {@code childSocketId}; each is answered once. */
    Optional<SocketChannel> claim(String childSocketId) {
        return Optional.ofNullable(waiting.remove(childSocketId));
    }

    /**
     * Keeps the channel.
     *
     * @throws IllegalStateException when one of the same name waits; the listener closes the new one then
     */
    @Override
    public void configureSocket(SocketChannel channel) {
        options.configureSocket(channel);
        if (waiting.size() >= SWEEP_SIZE) {
            waiting.values().removeIf(other -> !other.isOpen());
        }
        String name = "0x" + HexFormat.of().toHexDigits(System.identityHashCode(channel));
        if (waiting.putIfAbsent(name, channel) != null) {
            throw new IllegalStateException("two sockets are called " + name);
        }
    }

    @Override
    public Map<SocketOption<?>, Object> socketOptions() {
        return options.socketOptions();
    }

    @Override
    public Duration connectTimeout() {
        return options.connectTimeout();
    }

    @Override
    public Duration readTimeout() {
        return options.readTimeout();
    }

    @Override
    public Optional<Integer> socketReceiveBufferSize() {
        return options.socketReceiveBufferSize();
    }

    @Override
    public Optional<Integer> socketSendBufferSize() {
        return options.socketSendBufferSize();
    }

    @Override
    public boolean socketReuseAddress() {
        return options.socketReuseAddress();
    }

    @Override
    public boolean socketKeepAlive() {
        return options.socketKeepAlive();
    }

    @Override
    public boolean tcpNoDelay() {
        return options.tcpNoDelay();
    }
}
