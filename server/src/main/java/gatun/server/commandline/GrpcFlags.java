// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.listener.TlsFiles;
import gatun.server.settings.ListenerSettings.GrpcSettings;
import gatun.server.settings.ListenerSettings.TensorFlowServingSettings;
import java.util.Map;
import java.util.Optional;

/** The gRPC listener. Read once. */
final class GrpcFlags extends FlagGroup {
    private static final FlagType<ResponseCompression> COMPRESSION = FlagType.choice(
            "a level: none, low, medium or high",
            Map.of(
                    "none", ResponseCompression.NONE,
                    "low", ResponseCompression.LOW,
                    "medium", ResponseCompression.MEDIUM,
                    "high", ResponseCompression.HIGH));

    private final BindFlags bind;
    private final Flag<ResponseCompression> compression;

    /** Whether TensorFlow Serving's Predict answers with tensor_content. */
    final Flag<Boolean> tensorContent;

    /** Whether versions that do not serve yet may have new labels. */
    final Flag<Boolean> anyLabels;

    /** One more port, for clients of TensorFlow Serving. */
    final Flag<Integer> tensorFlowPort;

    GrpcFlags(GrpcSettings standard, TensorFlowServingSettings tensorFlow) {
        bind = new BindFlags(this, "grpc", "gRPC", "--grpc_socket_path", standard.bind());
        compression = flag(
                "--grpc-infer-response-compression-level",
                "LEVEL",
                COMPRESSION,
                standard.compression(),
                "How much inference responses are compressed for clients that take that: none, low, medium or high.");
        tensorContent = yesOrNo(
                "--enable_serialization_as_tensor_content",
                tensorFlow.protocol().tensorContent(),
                "Whether TensorFlow Serving's Predict answers with tensor_content and not with the fields of the"
                        + " types.");
        anyLabels = yesOrNo(
                "--allow_version_labels_for_unavailable_models",
                tensorFlow.protocol().anyLabels(),
                "Whether HandleReloadConfigRequest may give new labels to versions that do not serve yet.");
        tensorFlowPort = flag(
                "--port",
                "PORT",
                FlagType.PORT,
                tensorFlow.grpcPort(),
                "One more port to listen on, for clients of TensorFlow Serving, 0 for none.");
    }

    GrpcSettings settings(Optional<TlsFiles> tls, KeepaliveSettings keepalive) {
        return new GrpcSettings(bind.settings(tls), keepalive, compression.value());
    }
}
