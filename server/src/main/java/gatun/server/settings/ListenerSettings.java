// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.http.HttpTimeouts;
import gatun.http.metrics.ShownMetrics;
import gatun.listener.TlsFiles;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Where requests are taken, and metrics shown.
 *
 * @param http where HTTP requests are taken, and how
 * @param grpc where gRPC requests are taken, and how
 * @param tensorFlow how TensorFlow Serving's protocol is spoken
 * @param metrics where metrics are shown, and which
 */
public record ListenerSettings(
        HttpSettings http, GrpcSettings grpc, TensorFlowServingSettings tensorFlow, MetricsSettings metrics) {
    private static final String EVERY_ADDRESS = "0.0.0.0";

    /** The ports of Triton, on every address. */
    public static final ListenerSettings STANDARD = new ListenerSettings(
            HttpSettings.STANDARD, GrpcSettings.STANDARD, TensorFlowServingSettings.STANDARD, MetricsSettings.STANDARD);

    /** The same, but nothing listens. */
    public ListenerSettings disabled() {
        return new ListenerSettings(
                new HttpSettings(http.bind.disabled(), http.maxInputSize, http.timeouts, http.allowedOrigins),
                new GrpcSettings(grpc.bind.disabled(), grpc.keepalive, grpc.compression),
                tensorFlow,
                new MetricsSettings(false, metrics.address, metrics.port, metrics.shown, metrics.gpus));
    }

    /**
     * Where a protocol is spoken.
     *
     * @param enabled whether it is at all
     * @param address the address to listen on
     * @param port the port to listen on; 0 for any free one
     * @param unixSocket a Unix socket to listen on as well, never with TLS; empty for none
     * @param tls what TLS is served with on the port; empty for none
     */
    public record BindSettings(
            boolean enabled, String address, int port, Optional<Path> unixSocket, Optional<TlsFiles> tls) {
        private static BindSettings everywhere(int port) {
            return new BindSettings(true, EVERY_ADDRESS, port, Optional.empty(), Optional.empty());
        }

        private BindSettings disabled() {
            return new BindSettings(false, address, port, unixSocket, tls);
        }
    }

    /**
     * Where HTTP requests are taken, and how.
     *
     * @param bind where
     * @param maxInputSize the most bytes that a request may have
     * @param timeouts how long clients are waited for
     * @param allowedOrigins pages of which other servers may read responses, by their origins; {@code *} for any
     */
    public record HttpSettings(
            BindSettings bind, long maxInputSize, HttpTimeouts timeouts, Set<String> allowedOrigins) {
        private static final int PORT = 8000;
        private static final long MAX_INPUT_SIZE = 64L << 20;

        /** On port 8000, requests of up to 64 MiB. */
        public static final HttpSettings STANDARD =
                new HttpSettings(BindSettings.everywhere(PORT), MAX_INPUT_SIZE, HttpTimeouts.STANDARD, Set.of());
    }

    /**
     * Where gRPC requests are taken, and how.
     *
     * @param bind where
     * @param keepalive how connections are kept alive, and when they end
     * @param compression how much inference responses are compressed
     */
    public record GrpcSettings(BindSettings bind, KeepaliveSettings keepalive, ResponseCompression compression) {
        private static final int PORT = 8001;

        /** On port 8001, without compression. */
        public static final GrpcSettings STANDARD =
                new GrpcSettings(BindSettings.everywhere(PORT), KeepaliveSettings.standard(), ResponseCompression.NONE);
    }

    /**
     * How TensorFlow Serving's protocol is spoken, which the ports for HTTP and gRPC speak in any case.
     *
     * @param restPort a port that speaks nothing else over HTTP; 0 for none
     * @param grpcPort one more port for gRPC; 0 for none
     * @param protocol what the protocol can be set to, without its metrics
     * @param monitoringFile says whether TensorFlow Serving's metrics are counted, and on which path of the HTTP ports
     *     they are; empty for no
     */
    public record TensorFlowServingSettings(
            int restPort, int grpcPort, TensorFlowSettings protocol, Optional<Path> monitoringFile) {
        /** No ports of its own, and no metrics. */
        public static final TensorFlowServingSettings STANDARD =
                new TensorFlowServingSettings(0, 0, TensorFlowSettings.STANDARD, Optional.empty());
    }

    /**
     * Where metrics are shown, and which.
     *
     * @param enabled whether they are at all
     * @param address the address to listen on; empty for that of HTTP
     * @param port the port to listen on; 0 for any free one
     * @param shown what they show
     * @param gpus whether they show how busy GPUs are, where there are any
     */
    public record MetricsSettings(
            boolean enabled, Optional<String> address, int port, ShownMetrics shown, boolean gpus) {
        private static final int PORT = 8002;

        /** On port 8002, with GPUs. */
        public static final MetricsSettings STANDARD =
                new MetricsSettings(true, Optional.empty(), PORT, ShownMetrics.STANDARD, true);
    }
}
