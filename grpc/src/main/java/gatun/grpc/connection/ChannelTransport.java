package gatun.grpc.connection;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The socket channel itself: native memory is read and written in place. */
final class ChannelTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelTransport.class);

    private final SocketChannel channel;

    /** What the listener had read before it knew the protocol; the reader's alone. */
    private final ByteBuffer early;

    ChannelTransport(SocketChannel channel, byte[] early) {
        this.channel = channel;
        this.early = ByteBuffer.wrap(early);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (early.hasRemaining()) {
            int count = Math.min(early.remaining(), target.remaining());
            target.put(early.slice(early.position(), count));
            early.position(early.position() + count);
            return count;
        }
        return channel.read(target);
    }

    @Override
    public void write(ByteBuffer[] sources, int count) throws IOException {
        if (count == 1) {
            while (sources[0].hasRemaining()) {
                channel.write(sources[0]);
            }
            return;
        }
        int first = 0;
        while (first < count) {
            channel.write(sources, first, count - first);
            while (first < count && !sources[first].hasRemaining()) {
                first++;
            }
        }
    }

    @Override
    public void shutdownOutput() {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }
}
