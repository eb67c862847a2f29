// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.runtime.metrics.ShownMetrics;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.v2.lane.LaneSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The settings of listeners for requests and for metrics.
 *
 * @param http the listener for HTTP requests
 * @param grpc the listener for gRPC requests
 * @param tensorFlow the settings of TensorFlow Serving's protocol
 * @param lanes the threads for requests without a socket
 * @param metrics the listener for metrics
 * @param cloud the endpoints that clouds expect
 * @param console the page about the server
 */
public record ListenerSettings(
        HttpSettings http,
        GrpcSettings grpc,
        TensorFlowServingSettings tensorFlow,
        LaneSettings lanes,
        MetricsSettings metrics,
        CloudSettings cloud,
        ConsoleSettings console) {
    private static final String EVERY_ADDRESS = "0.0.0.0";

    /** The ports of Triton, on every address. */
    public static final ListenerSettings STANDARD = new ListenerSettings(
            HttpSettings.STANDARD,
            GrpcSettings.STANDARD,
            TensorFlowServingSettings.STANDARD,
            LaneSettings.STANDARD,
            MetricsSettings.STANDARD,
            CloudSettings.STANDARD,
            ConsoleSettings.STANDARD);

    /** The same, but nothing listens. */
    public ListenerSettings disabled() {
        return new ListenerSettings(
                new HttpSettings(
                        http.bind.disabled(), http.maxInputSize, http.timeouts, http.allowedOrigins, http.healthBodies),
                new GrpcSettings(grpc.bind.disabled(), grpc.keepalive, grpc.compression),
                tensorFlow,
                lanes,
                new MetricsSettings(false, metrics.address, metrics.port, metrics.shown, metrics.gpus),
                cloud.disabled(),
                ConsoleSettings.NONE);
    }

    /** The same protocols in the same way, but neither TLS, nor metrics, nor endpoints of clouds. */
    public ListenerSettings plain() {
        return new ListenerSettings(
                new HttpSettings(
                        http.bind.plain(), http.maxInputSize, http.timeouts, http.allowedOrigins, http.healthBodies),
                new GrpcSettings(grpc.bind.plain(), grpc.keepalive, grpc.compression),
                tensorFlow,
                lanes,
                new MetricsSettings(false, metrics.address, metrics.port, metrics.shown, false),
                cloud.disabled(),
                console);
    }

    /**
     * The address of a listener.
     *
     * @param enabled whether it listens at all
     * @param address the address to listen on
     * @param port the port to listen on; 0 for any free one
     * @param unixSocket a Unix socket to listen on as well, never with TLS; empty for none
     * @param tls the files for TLS on the port; empty for none
     */
    public record BindSettings(
            boolean enabled, String address, int port, Optional<Path> unixSocket, Optional<TlsFiles> tls) {
        private static BindSettings everywhere(int port) {
            return new BindSettings(true, EVERY_ADDRESS, port, Optional.empty(), Optional.empty());
        }

        private BindSettings disabled() {
            return new BindSettings(false, address, port, unixSocket, tls);
        }

        private BindSettings plain() {
            return new BindSettings(enabled, address, port, unixSocket, Optional.empty());
        }
    }

    /**
     * The settings of the HTTP listener.
     *
     * @param bind its address
     * @param maxInputSize the most bytes that a request may have
     * @param timeouts how long clients are waited for
     * @param allowedOrigins the other origins whose pages may read responses in a browser; {@code *} for any
     */
    public record HttpSettings(
            BindSettings bind,
            long maxInputSize,
            HttpTimeouts timeouts,
            Set<String> allowedOrigins,
            boolean healthBodies) {
        private static final int PORT = 8000;
        private static final long MAX_INPUT_SIZE = 64L << 20;

        /** On port 8000, requests of up to 64 MiB. */
        public static final HttpSettings STANDARD =
                new HttpSettings(BindSettings.everywhere(PORT), MAX_INPUT_SIZE, HttpTimeouts.STANDARD, Set.of(), true);
    }

    /**
     * The settings of the gRPC listener.
     *
     * @param bind its address
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
     * The settings of TensorFlow Serving's protocol, which the ports for HTTP and gRPC speak in any case.
     *
     * @param restPort a port that speaks only this protocol over HTTP; 0 for none
     * @param grpcPort one more port for gRPC; 0 for none
     * @param protocol the settings of the protocol, without its metrics
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
     * The settings of the metrics listener.
     *
     * @param enabled whether they are at all
     * @param address the address to listen on; empty for that of HTTP
     * @param port the port to listen on; 0 for any free one
     * @param shown the choice of metrics
     * @param gpus whether metrics of GPUs are shown, where there are any
     */
    public record MetricsSettings(
            boolean enabled, Optional<String> address, int port, ShownMetrics shown, boolean gpus) {
        private static final int PORT = 8002;

        /** On port 8002, with GPUs. */
        public static final MetricsSettings STANDARD =
                new MetricsSettings(true, Optional.empty(), PORT, ShownMetrics.STANDARD, true);
    }

    /**
     * The settings of the console.
     *
     * @param enabled whether it is at all
     * @param address the address of its own port; empty for that of HTTP
     * @param port a port of its own, which speaks all of HTTP's protocols, and 0 for any free one; empty for HTTP's ports
     */
    public record ConsoleSettings(boolean enabled, Optional<String> address, Optional<Integer> port) {
        /** On HTTP's ports. */
        public static final ConsoleSettings STANDARD = new ConsoleSettings(true, Optional.empty(), Optional.empty());

        /** None. */
        public static final ConsoleSettings NONE = new ConsoleSettings(false, Optional.empty(), Optional.empty());

        /** Whether it is on the ports of HTTP. */
        public boolean onHttp() {
            return enabled && port.isEmpty();
        }
    }
}
