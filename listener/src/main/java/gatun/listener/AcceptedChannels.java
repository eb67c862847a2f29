// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Socket options that remember the channel of each accepted connection until its connection is made. A connection is
 * told everything about its socket except the channel, which it needs to read into native memory; the listener shows
 * the channel to its socket options only, and names it by its identity hash to the connection. Safe for any thread.
 */
public final class AcceptedChannels implements SocketOptions {
    /** From this many waiting channels on, closed ones are removed, whose connections will never be made. */
    private static final int SWEEP_SIZE = 64;

    private final SocketOptions options;
    private final ConcurrentHashMap<String, SocketChannel> waiting = new ConcurrentHashMap<>();

    /** Options that set each socket up as {@code options} do, and remember its channel. */
    public AcceptedChannels(SocketOptions options) {
        this.options = options;
    }

    /** The channel of the connection that the listener calls {@code childSocketId}; once only. */
    public Optional<SocketChannel> claim(String childSocketId) {
        return Optional.ofNullable(waiting.remove(childSocketId));
    }

    /**
     * Remembers the channel. Throws IllegalStateException when another waiting one has the same identity hash; the
     * listener then closes the new one, and its client connects again.
     */
    @Override
    public void configureSocket(SocketChannel channel) {
        options.configureSocket(channel);
        if (waiting.size() >= SWEEP_SIZE) {
            waiting.values().removeIf(candidate -> !candidate.isOpen());
        }
        String id = "0x" + HexFormat.of().toHexDigits(System.identityHashCode(channel));
        if (waiting.putIfAbsent(id, channel) != null) {
            throw new IllegalStateException("two channels are called " + id);
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
