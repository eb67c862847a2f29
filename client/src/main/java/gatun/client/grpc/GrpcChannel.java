// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.ServerAddress;
import gatun.client.calls.TlsFiles;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider.ProviderNotFoundException;
import io.grpc.ManagedChannelRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Connections to one server over gRPC, made as {@link ClientOptions} say. Owns them. Safe for any thread. */
public final class GrpcChannel implements AutoCloseable {
    /** How long running calls may take to end once they were cancelled. */
    private static final long CLOSE_SECONDS = 5;

    private final ManagedChannel channel;

    private GrpcChannel(ManagedChannel channel) {
        this.channel = channel;
    }

    /**
     * Makes the channel; it connects with the first call.
     *
     * @throws IllegalArgumentException when the options ask for a feature that gRPC does not have, or name TLS files
     *     that are not what they should be
     * @throws IllegalStateException when the class path has no transport for gRPC
     */
    public static GrpcChannel open(ClientOptions options) {
        if (options.compression() == Compression.DEFLATE) {
            throw new IllegalArgumentException(
                    "compression DEFLATE of " + options.server() + ": gRPC has NONE and GZIP; DEFLATE is for HTTP");
        }
        ManagedChannelBuilder<?> builder;
        try {
            builder = Grpc.newChannelBuilder(target(options.server()), credentials(options));
        } catch (ProviderNotFoundException | ManagedChannelRegistry.ProviderNotFoundException e) {
            throw new IllegalStateException(
                    "no transport for gRPC is on the class path: add io.grpc:grpc-netty-shaded, or use http:// or unix:"
                            + " instead of " + options.server(),
                    e);
        }
        // Attempts are made by the client itself, the same way for every protocol.
        builder.disableRetry().maxInboundMessageSize(Integer.MAX_VALUE).userAgent("gatun-client");
        if (!options.headers().isEmpty()) {
            builder.intercept(MetadataUtils.newAttachHeadersInterceptor(metadata(options.headers())));
        }
        if (options.compression() == Compression.GZIP) {
            builder.intercept(new Compressing());
        }
        return new GrpcChannel(builder.build());
    }

    /** Where calls are made. */
    public Channel channel() {
        return channel;
    }

    /** Ends all calls, and waits a little for that. */
    @Override
    public void close() {
        channel.shutdownNow();
        try {
            // Calls that have not ended by then end all the same, but not before this returns.
            boolean ignored = channel.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String target(ServerAddress server) {
        if (server.isUnix()) {
            return "unix:" + server.unixSocket();
        }
        String host = server.host().indexOf(':') < 0 ? server.host() : '[' + server.host() + ']';
        return "dns:///" + host + ':' + server.port();
    }

    private static ChannelCredentials credentials(ClientOptions options) {
        if (!options.server().tls()) {
            return InsecureChannelCredentials.create();
        }
        TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
        TlsFiles.trustManagers(options.tls()).ifPresent(credentials::trustManager);
        TlsFiles.keyManagers(options.tls()).ifPresent(credentials::keyManager);
        return credentials.build();
    }

    private static Metadata metadata(Map<String, String> headers) {
        Metadata metadata = new Metadata();
        headers.forEach((name, value) -> metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
        return metadata;
    }

    private static final class Compressing implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return next.newCall(method, options.withCompression("gzip"));
        }
    }
}
