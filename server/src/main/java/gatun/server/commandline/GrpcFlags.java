// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.listener.TlsFiles;
import gatun.server.settings.ListenerSettings.BindSettings;
import gatun.server.settings.ListenerSettings.GrpcSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The gRPC listener. Filled by picocli, read once. */
final class GrpcFlags {
    @Option(
            names = "--allow-grpc",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether gRPC requests are taken.")
    boolean allowed;

    @Option(
            names = "--grpc-address",
            paramLabel = "ADDRESS",
            defaultValue = "0.0.0.0",
            description = "The address to listen on, 0.0.0.0 for all.")
    String address = "";

    @Option(
            names = "--grpc-port",
            paramLabel = "PORT",
            defaultValue = "8001",
            converter = FlagValues.Port.class,
            description = "The port to listen on, 0 for any free port.")
    int port;

    @Option(
            names = {"--grpc-unix-socket", "--grpc_socket_path"},
            paramLabel = "PATH",
            description = "Also listen on a Unix socket at PATH. Also called --grpc_socket_path.")
    Optional<Path> unixSocket = Optional.empty();

    @Option(
            names = "--grpc-infer-response-compression-level",
            paramLabel = "LEVEL",
            defaultValue = "none",
            converter = FlagValues.Compression.class,
            description = "How much inference responses are compressed for clients that take that: none, low, medium or"
                    + " high.")
    ResponseCompression compression = ResponseCompression.NONE;

    @Option(
            names = "--enable_serialization_as_tensor_content",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description =
                    "Whether TensorFlow Serving's Predict answers with tensor_content and not with the fields of the"
                            + " types.")
    boolean tensorContent;

    @Option(
            names = "--allow_version_labels_for_unavailable_models",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether HandleReloadConfigRequest may give new labels to versions that do not serve yet.")
    boolean anyLabels;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "0",
            converter = FlagValues.Port.class,
            description = "One more port to listen on, for clients of TensorFlow Serving, 0 for none.")
    int tensorFlowPort;

    GrpcSettings settings(Optional<TlsFiles> tls, KeepaliveSettings keepalive) {
        return new GrpcSettings(new BindSettings(allowed, address, port, unixSocket, tls), keepalive, compression);
    }
}
