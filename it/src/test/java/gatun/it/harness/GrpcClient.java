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

/** A connection of grpc-java, over TCP or a Unix socket. */
public final class GrpcClient implements AutoCloseable {
    private static final int LIMIT_SECONDS = 20;

    private final ManagedChannel channel;
    private final Optional<EventLoopGroup> threads;

    private GrpcClient(ManagedChannel channel, Optional<EventLoopGroup> threads) {
        this.channel = channel;
        this.threads = threads;
    }

    public static GrpcClient tcp(int port) {
        return new GrpcClient(
                NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build(), Optional.empty());
    }

    /** Over TCP, with a header in each call. */
    public static GrpcClient tcp(int port, String header, String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), value);
        return new GrpcClient(
                NettyChannelBuilder.forAddress("127.0.0.1", port)
                        .usePlaintext()
                        .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
                        .build(),
                Optional.empty());
    }

    public static GrpcClient unix(Path socket) {
        EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        return new GrpcClient(
                NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                        .channelType(EpollDomainSocketChannel.class)
                        .eventLoopGroup(threads)
                        .usePlaintext()
                        .build(),
                Optional.of(threads));
    }

    public ManagedChannel channel() {
        return channel;
    }

    /** The v2 service; each call must end within some seconds of this one. */
    public GRPCInferenceServiceBlockingStub service() {
        return GRPCInferenceServiceGrpc.newBlockingStub(channel)
                .withDeadline(Deadline.after(LIMIT_SECONDS, TimeUnit.SECONDS));
    }

    @Override
    public void close() {
        channel.shutdownNow();
        boolean ended;
        try {
            ended = channel.awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ended = false;
        }
        threads.ifPresent(GrpcClient::stop);
        if (!ended) {
            throw new AssertionError("the channel did not close within " + LIMIT_SECONDS + " s");
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
