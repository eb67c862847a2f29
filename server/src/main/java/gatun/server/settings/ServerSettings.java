// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.http.Patience;
import gatun.http.metrics.ShownMetrics;
import gatun.listener.ConnectionLimits;
import gatun.listener.TlsFiles;
import gatun.runtime.limits.LimitSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Everything that the operator decided about one server.
 *
 * @param id the name that the server gives itself in its metadata
 * @param lifecycle how the server says that it is ready, and how it stops
 * @param models what to serve
 * @param memory what memory may be used
 * @param http where HTTP requests are taken
 * @param grpc where gRPC requests are taken
 * @param metrics where metrics are shown
 * @param access who may ask for what
 * @param tracing which requests are traced
 * @param limits how much clients may ask for
 * @param connections how many connections clients may have open
 */
public record ServerSettings(
        String id,
        LifecycleSettings lifecycle,
        ModelSettings models,
        MemorySettings memory,
        HttpSettings http,
        GrpcSettings grpc,
        MetricsSettings metrics,
        AccessSettings access,
        TracingSettings tracing,
        LimitSettings limits,
        ConnectionLimits connections) {
    /** Checks that nothing is missing. */
    public ServerSettings {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(lifecycle, "lifecycle");
        Objects.requireNonNull(models, "models");
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(http, "http");
        Objects.requireNonNull(grpc, "grpc");
        Objects.requireNonNull(metrics, "metrics");
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(tracing, "tracing");
        Objects.requireNonNull(limits, "limits");
        Objects.requireNonNull(connections, "connections");
    }

    /**
     * How the server says that it is ready, and how it stops.
     *
     * @param readyFile where to write the real addresses once the server is ready; empty for nowhere
     * @param exitTimeout how long requests may take to finish after the server was told to stop
     * @param drain how long the server goes on serving, without being ready, after it was told to stop; zero for not at all
     */
    public record LifecycleSettings(Optional<Path> readyFile, Duration exitTimeout, Duration drain) {}

    /**
     * What native memory may be used.
     *
     * @param bufferPoolByteSize the most bytes that requests and responses may occupy at a time
     * @param clientSharedMemory whether clients may register shared memory
     * @param responseCacheByteSize the most bytes that remembered responses may take; 0 for remembering none
     * @param devicePools how much of single GPUs' memory may be taken; of the others all
     */
    public record MemorySettings(
            long bufferPoolByteSize,
            boolean clientSharedMemory,
            long responseCacheByteSize,
            List<DevicePoolLimit> devicePools) {
        /** Keeps a copy of the limits. */
        public MemorySettings {
            devicePools = List.copyOf(devicePools);
        }
    }

    /**
     * Where HTTP requests are taken.
     *
     * @param enabled whether they are at all
     * @param address the address to listen on
     * @param port the port to listen on; 0 for any free one
     * @param unixSocket a Unix socket to listen on as well, never with TLS; empty for none
     * @param tls what TLS is served with on the port; empty for none
     * @param maxInputSize the most bytes that a request may have
     * @param patience how long clients are waited for
     * @param tensorFlow how requests of TensorFlow Serving's protocol are taken
     * @param allowedOrigins pages of which other servers may read answers, by their origins; {@code *} for any
     */
    public record HttpSettings(
            boolean enabled,
            String address,
            int port,
            Optional<Path> unixSocket,
            Optional<TlsFiles> tls,
            long maxInputSize,
            Patience patience,
            RestSettings tensorFlow,
            Set<String> allowedOrigins) {}

    /**
     * How requests of TensorFlow Serving's protocol over HTTP are taken.
     *
     * @param port a port that speaks nothing else, beside that of all HTTP requests; 0 for none
     * @param settings what the protocol can be set to
     */
    public record RestSettings(int port, TensorFlowSettings settings) {}

    /**
     * Where gRPC requests are taken.
     *
     * @param enabled whether they are at all
     * @param address the address to listen on
     * @param port the port to listen on; 0 for any free one
     * @param unixSocket a Unix socket to listen on as well, never with TLS; empty for none
     * @param tls what TLS is served with on the port; empty for none
     * @param keepalive how connections are kept alive, and when they end
     * @param compression how much inference responses are compressed
     * @param tensorContent whether TensorFlow Serving's Predict answers with tensor_content and not with the fields of the types
     * @param anyLabels whether a client's list of models may give new labels to versions that do not serve yet
     * @param tensorFlowPort one more port to listen on, for clients of TensorFlow Serving; 0 for none
     */
    public record GrpcSettings(
            boolean enabled,
            String address,
            int port,
            Optional<Path> unixSocket,
            Optional<TlsFiles> tls,
            KeepaliveSettings keepalive,
            ResponseCompression compression,
            boolean tensorContent,
            boolean anyLabels,
            int tensorFlowPort) {}

    /**
     * Where metrics are shown.
     *
     * @param enabled whether they are at all
     * @param address the address to listen on
     * @param port the port to listen on; 0 for any free one
     * @param shown what they show
     * @param gpus whether they show how busy GPUs are, where there are any
     * @param monitoringFile says whether TensorFlow Serving's metrics are counted, and on which path of the HTTP ports they are; empty for no
     */
    public record MetricsSettings(
            boolean enabled,
            String address,
            int port,
            ShownMetrics shown,
            boolean gpus,
            Optional<Path> monitoringFile) {}
}
