// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.protocol;

import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.runtime.BatchingRules;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings;
import gatun.tensorflow.serving.BatchingFiles;
import gatun.tensorflow.serving.ExampleMappings;
import gatun.tensorflow.serving.MonitoringFile;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.SslFile;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.TensorFlowSettings.Monitoring;
import gatun.tensorflow.serving.grpc.WarmUpRecords;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** Has the server speak TensorFlow Serving's protocol, which the ports of HTTP and gRPC speak in any case. */
public final class TensorFlowProtocolProvider implements ProtocolProvider {
    private static final int PRECEDENCE = 100;
    private static final TensorFlowSettings STANDARD = TensorFlowSettings.STANDARD;

    /** The port for this protocol alone over HTTP. */
    private static final Kind REST = new Kind("rest", "REST", Transport.HTTP, "/v1", Audience.CLIENTS, false, false);

    /** The port of gRPC, where clients of TensorFlow Serving look for it. */
    private static final Kind GRPC =
            new Kind("tensorflow-grpc", "gRPC", Transport.GRPC, "", Audience.CLIENTS, true, true);

    private final FlagGroup batchingFlags = new FlagGroup();
    private final Flag<Boolean> batching = batchingFlags.yesOrNo(
            "--enable_batching", false, "Whether requests are joined of models whose configuration does not say how.");
    private final Flag<Optional<Path>> batchingFile = batchingFlags.optional(
            "--batching_parameters_file",
            FlagType.PATH,
            "How they are joined (BatchingParameters in protobuf's text format).");
    private final Flag<Boolean> eachVersion = batchingFlags.yesOrNo(
            "--enable_per_model_batching_parameters",
            false,
            "Whether each version says so itself, in its batching_params.pbtxt; without one it is not joined.");

    private final FlagGroup httpFlags = new FlagGroup();
    private final Flag<Integer> restPort = httpFlags.flag(
            "--rest_api_port",
            FlagType.PORT,
            0,
            "A port for TensorFlow Serving's REST API alone, which --http-port speaks too; 0 for none.");
    private final Flag<Boolean> cors = httpFlags.yesOrNo(
            "--rest_api_enable_cors_support",
            STANDARD.anyOrigin(),
            "Whether browsers may show answers of TensorFlow Serving's REST API to pages of any server.");
    private final Flag<Duration> timeout = httpFlags.flag(
            "--rest_api_timeout_in_ms",
            FlagType.MILLISECONDS.labelled("MILLISECONDS"),
            STANDARD.timeout(),
            "How long a model may take for a request of TensorFlow Serving's REST API.");
    private final Flag<Boolean> methodNames = httpFlags.yesOrNo(
            "--enable_signature_method_name_check",
            STANDARD.methodNames(),
            "Whether a signature that is asked to classify or regress must call its method so, over REST and"
                    + " gRPC.");

    private final FlagGroup grpcFlags = new FlagGroup();
    private final Flag<Boolean> tensorContent = grpcFlags.yesOrNo(
            "--enable_serialization_as_tensor_content",
            STANDARD.tensorContent(),
            "Whether TensorFlow Serving's Predict answers with tensor_content and not with the fields of the"
                    + " types.");
    private final Flag<Boolean> anyLabels = grpcFlags.yesOrNo(
            "--allow_version_labels_for_unavailable_models",
            STANDARD.anyLabels(),
            "Whether HandleReloadConfigRequest may give new labels to versions that do not serve yet.");
    private final Flag<Boolean> profiler = grpcFlags.yesOrNo(
            "--enable_profiler",
            STANDARD.profiler(),
            "Whether tensorflow.ProfilerService tells clients for some time what requests do.");
    private final Flag<Integer> grpcPort = grpcFlags.flag(
            "--port", FlagType.PORT, 0, "One more port to listen on, for clients of TensorFlow Serving, 0 for none.");

    private final FlagGroup tlsFlags = new FlagGroup();
    private final Flag<Optional<Path>> sslFile = tlsFlags.optional(
            "--ssl_config_file",
            FlagType.PATH,
            "Speak gRPC over TLS as FILE says: TensorFlow Serving's SSLConfig, in protobuf's text format.");

    private final FlagGroup metricsFlags = new FlagGroup();
    private final Flag<Optional<Path>> monitoringFile = metricsFlags.optional(
            "--monitoring_config_file",
            FlagType.PATH,
            "Count what TensorFlow Serving counts, and show it on the HTTP ports as FILE says"
                    + " (MonitoringConfig in protobuf's text format).");

    /** Where the metrics are, once the start has begun; empty for nowhere. */
    private Optional<String> monitoringPath = Optional.empty();

    /** For {@link java.util.ServiceLoader}. */
    public TensorFlowProtocolProvider() {}

    @Override
    public int precedence() {
        return PRECEDENCE;
    }

    @Override
    public List<Section> flags() {
        return List.of(
                new Section(
                        "Batching as TensorFlow Serving is told",
                        "Models as TensorFlow Serving is told",
                        batchingFlags),
                new Section("HTTP", "", httpFlags),
                new Section("gRPC", "", grpcFlags),
                new Section("gRPC over TLS", "", tlsFlags),
                new Section("Metrics", "", metricsFlags));
    }

    @Override
    public void check() {
        boolean given = batchingFile.value().isPresent();
        if (!batching.value() && (given || eachVersion.value())) {
            throw new FlagException((given ? batchingFile : eachVersion).name() + " is set without setting "
                    + batching.name() + " to true.");
        }
    }

    @Override
    public Optional<GrpcTls> grpcTls() {
        return sslFile.value().map(file -> new GrpcTls(sslFile.name(), () -> tls(file)));
    }

    private TlsFiles tls(Path file) {
        SslFile read;
        try {
            read = SslFile.read(file);
        } catch (GatunException e) {
            throw new FlagException(sslFile.name() + ": " + e.getMessage());
        }
        if (read.clientsVerified() && read.clientRoots().isEmpty()) {
            throw new FlagException(sslFile.name() + "=" + file
                    + ": client_verify is true and there is no custom_ca; add the certificates, in PEM format, of those"
                    + " who vouch for clients.");
        }
        return new TlsFiles(
                part("server_cert", file, SslFile::certificate),
                part("server_key", file, SslFile::key),
                read.clientsVerified() ? Optional.of(part("custom_ca", file, SslFile::clientRoots)) : Optional.empty());
    }

    private PemFile part(String field, Path file, Function<SslFile, String> part) {
        return new PemFile(field + " of " + sslFile.name(), file, path -> {
            try {
                return part.apply(SslFile.read(path));
            } catch (GatunException e) {
                throw new IOException(e.getMessage(), e);
            }
        });
    }

    @Override
    public List<Endpoint> ports(CommonAddresses common) {
        List<Endpoint> ports = new ArrayList<>();
        if (restPort.value() != 0) {
            ports.add(Endpoint.onPort(REST, common.http(), restPort.value()));
        }
        if (grpcPort.value() != 0) {
            ports.add(Endpoint.onPort(GRPC, common.grpc(), grpcPort.value()));
        }
        return ports;
    }

    /** Reads the monitoring file. */
    @Override
    public void begin(List<Endpoint> all) {
        monitoringPath = named(monitoringFile, () -> monitoringFile.value().flatMap(MonitoringFile::path));
    }

    @Override
    public void checkConfiguration(ModelConfig config) {
        ExampleMappings.check(config);
    }

    @Override
    public WarmUpSource recordedRequests(BufferPool pool, LimitSettings limits, int iterations) {
        return new WarmUpRecords(pool, limits, iterations);
    }

    @Override
    public Optional<BatchingRules> batching() {
        return batching.value()
                ? Optional.of(named(batchingFile, () -> BatchingFiles.of(batchingFile.value(), eachVersion.value())))
                : Optional.empty();
    }

    /** What {@code reader} reads from the file of {@code flag}, which its failure names. */
    private static <T> T named(Flag<?> flag, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (GatunException e) {
            throw new GatunException(e.code(), flag.name() + ": " + e.getMessage(), e);
        }
    }

    /** The settings, without metrics. */
    public TensorFlowSettings settings() {
        return new TensorFlowSettings(
                cors.value(),
                timeout.value(),
                methodNames.value(),
                tensorContent.value(),
                anyLabels.value(),
                profiler.value(),
                Optional.empty());
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        TensorFlowSettings settings = monitoringPath
                .map(path -> settings().withMonitoring(new Monitoring(new ServingMetrics(), path)))
                .orElse(settings());
        return Optional.of(new TensorFlowProtocol(context.server(), context.settings(), settings));
    }
}
