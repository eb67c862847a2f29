// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.http.connection.Routes;
import gatun.listener.TlsFiles;
import gatun.memory.buffers.BufferPool;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.runtime.BatchingRules;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.server.InferenceServer;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A protocol that the server finds by {@link java.util.ServiceLoader}: a distribution speaks it by having its jar. Each
 * command line has an instance of its own, whose flags have the values of that line. The methods are called in the order
 * in which they stand here.
 */
public interface ProtocolProvider {
    /** The place among the protocols: routes, flags and ports of the least come first. */
    int precedence();

    /** Its flags. */
    default List<Section> flags() {
        return List.of();
    }

    /** Turns off, by default, what a server within another program does not need. */
    default void embed() {}

    /** Checks the flags' values. Throws {@link gatun.protocol.flags.FlagType.FlagException} on a contradiction. */
    default void check() {}

    /** TLS on the port of gRPC, where a flag of this protocol asks for it. */
    default Optional<GrpcTls> grpcTls() {
        return Optional.empty();
    }

    /** The ports that it listens on besides those of HTTP and gRPC. */
    default List<Endpoint> ports(CommonAddresses common) {
        return List.of();
    }

    /**
     * Begins a start of the server, which is to listen at {@code all}: reads files that flags name. Throws {@link
     * gatun.memory.tensor.GatunException} with the reason why the server cannot start.
     */
    default void begin(List<Endpoint> all) {}

    /**
     * Checks what it reads in a complete configuration. Throws {@link gatun.memory.tensor.GatunException} with the
     * reason why the model is not loaded.
     */
    default void checkConfiguration(ModelConfig config) {}

    /**
     * The requests that were recorded in its words, for models that are loaded.
     *
     * @param limits the limits of one of them, as if a client had sent it
     * @param iterations how often each is sent; at least 1
     */
    default WarmUpSource recordedRequests(BufferPool pool, LimitSettings limits, int iterations) {
        return WarmUpSource.NONE;
    }

    /**
     * How requests share runs of models whose configuration does not say it. Throws {@link
     * gatun.memory.tensor.GatunException} with the reason why the server cannot start.
     */
    default Optional<BatchingRules> batching() {
        return Optional.empty();
    }

    /**
     * The protocol in front of a server, whose models may still be loading; empty where flags turn it off. May be called
     * again, for another server of this process.
     *
     * @throws gatun.memory.tensor.GatunException with the reason why the server cannot start
     */
    Optional<Protocol> create(ProtocolContext context);

    /** The addresses of the ports that all protocols share. */
    record CommonAddresses(String http, String grpc) {}

    /** TLS on the port of gRPC, asked for by {@code flag}; {@code files} throws FlagException for unusable files. */
    record GrpcTls(String flag, Supplier<TlsFiles> files) {}

    /**
     * What a protocol is made of.
     *
     * @param overHttp whether any port of HTTP is there
     * @param metrics answers requests for the metrics
     * @param surroundings knows the listeners, and is asked once they listen
     */
    record ProtocolContext(
            InferenceServer server,
            ProtocolSettings settings,
            boolean overHttp,
            Routes metrics,
            ServerSurroundings surroundings) {}
}
