// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.KeepaliveSettings;
import gatun.listener.TlsFiles;
import gatun.server.commandline.FlagGroup.Flag;
import gatun.server.commandline.FlagGroup.OverlayFlags;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.GrpcSettings;
import java.util.Map;
import java.util.Optional;

/** The gRPC listener. Read once. */
final class GrpcFlags extends OverlayFlags<ListenerSettings> {
    private static final FlagType<ResponseCompression> COMPRESSION = FlagType.choice(
            "LEVEL",
            "a level: none, low, medium or high",
            Map.of(
                    "none", ResponseCompression.NONE,
                    "low", ResponseCompression.LOW,
                    "medium", ResponseCompression.MEDIUM,
                    "high", ResponseCompression.HIGH));

    private final BindFlags bind = new BindFlags(
            this, "grpc", "gRPC", "--grpc_socket_path", standard.grpc().bind());
    private final Flag<ResponseCompression> compression = flag(
            "--grpc-infer-response-compression-level",
            COMPRESSION,
            standard.grpc().compression(),
            "How much inference responses are compressed for clients that take that: none, low, medium or high.");

    /** Whether TensorFlow Serving's Predict answers with tensor_content. */
    final Flag<Boolean> tensorContent = yesOrNo(
            "--enable_serialization_as_tensor_content",
            standard.tensorFlow().protocol().tensorContent(),
            "Whether TensorFlow Serving's Predict answers with tensor_content and not with the fields of the"
                    + " types.");

    /** Whether versions that do not serve yet may have new labels. */
    final Flag<Boolean> anyLabels = yesOrNo(
            "--allow_version_labels_for_unavailable_models",
            standard.tensorFlow().protocol().anyLabels(),
            "Whether HandleReloadConfigRequest may give new labels to versions that do not serve yet.");

    /** Whether clients may have profiles. */
    final Flag<Boolean> profiler = yesOrNo(
            "--enable_profiler",
            standard.tensorFlow().protocol().profiler(),
            "Whether tensorflow.ProfilerService tells clients for some time what requests do.");

    /** One more port, for clients of TensorFlow Serving. */
    final Flag<Integer> tensorFlowPort = flag(
            "--port",
            FlagType.PORT,
            standard.tensorFlow().grpcPort(),
            "One more port to listen on, for clients of TensorFlow Serving, 0 for none.");

    GrpcFlags(ListenerSettings standard) {
        super(standard);
    }

    GrpcSettings settings(Optional<TlsFiles> tls, KeepaliveSettings keepalive) {
        return new GrpcSettings(bind.settings(tls), keepalive, compression.value());
    }
}
