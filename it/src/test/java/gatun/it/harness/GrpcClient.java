// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import io.grpc.Deadline;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** A connection of grpc-java, over TCP or a Unix socket. */
public final class GrpcClient implements AutoCloseable {
    private static final int LIMIT_SECONDS = 20;

    private final Supplier<ManagedChannel> opening;
    private final Optional<EventLoopGroup> threads;
    private Optional<ManagedChannel> opened = Optional.empty();

    private GrpcClient(Supplier<ManagedChannel> opening, Optional<EventLoopGroup> threads) {
        this.opening = opening;
        this.threads = threads;
    }

    public static GrpcClient tcp(int port) {
        return tcp(() -> port);
    }

    /** Over TCP, to a port that is asked for with the first call. */
    public static GrpcClient tcp(IntSupplier port) {
        return new GrpcClient(
                () -> NettyChannelBuilder.forAddress("127.0.0.1", port.getAsInt())
                        .usePlaintext()
                        .build(),
                Optional.empty());
    }

    /** Over TCP, with a header in each call. */
    public static GrpcClient tcp(int port, String header, String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), value);
        return new GrpcClient(
                () -> NettyChannelBuilder.forAddress("127.0.0.1", port)
                        .usePlaintext()
                        .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
                        .build(),
                Optional.empty());
    }

    public static GrpcClient unix(Path socket) {
        EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        return new GrpcClient(
                () -> NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                        .channelType(EpollDomainSocketChannel.class)
                        .eventLoopGroup(threads)
                        .usePlaintext()
                        .build(),
                Optional.of(threads));
    }

    /** The connection, which is opened once it is asked for. */
    public synchronized ManagedChannel channel() {
        ManagedChannel channel = opened.orElseGet(opening);
        opened = Optional.of(channel);
        return channel;
    }

    /** The v2 service; each call must end within some seconds of this one. */
    public GRPCInferenceServiceBlockingStub service() {
        return GRPCInferenceServiceGrpc.newBlockingStub(channel())
                .withDeadline(Deadline.after(LIMIT_SECONDS, TimeUnit.SECONDS));
    }

    @Override
    public synchronized void close() {
        boolean ended = opened.isEmpty() || hasEnded(opened.get().shutdownNow());
        threads.ifPresent(GrpcClient::stop);
        if (!ended) {
            throw new AssertionError("the channel did not close within " + LIMIT_SECONDS + " s");
        }
    }

    private static boolean hasEnded(ManagedChannel channel) {
        try {
            return channel.awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static void stop(EventLoopGroup group) {
        boolean stopped = group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (!stopped) {
            throw new AssertionError("the client's threads did not end within " + LIMIT_SECONDS + " s");
        }
    }
}
