// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.ClientSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.TensorFlowServingSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.LifecycleSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gatun serve}: its flags are Triton's, so that existing argument lists work. */
@Command(
        name = "serve",
        description = "Serves the models of a repository over HTTP, gRPC and shared memory.",
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ")
final class ServeCommand implements Callable<Integer> {
    private final ServeAction action;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Mixin(name = "Models")
    ModelFlags models = new ModelFlags();

    @Mixin(name = "Models as TensorFlow Serving is told")
    ModelListFlags modelList = new ModelListFlags();

    @Mixin(name = "Batching as TensorFlow Serving is told")
    BatchingFlags batching = new BatchingFlags();

    @Mixin(name = "TensorFlow as TensorFlow Serving is told")
    TensorFlowFlags tensorFlow = new TensorFlowFlags();

    @Mixin(name = "HTTP")
    HttpFlags http = new HttpFlags();

    @Mixin(name = "HTTP over TLS")
    HttpTlsFlags httpTls = new HttpTlsFlags();

    @Mixin(name = "gRPC")
    GrpcFlags grpc = new GrpcFlags();

    @Mixin(name = "gRPC over TLS")
    GrpcTlsFlags grpcTls = new GrpcTlsFlags();

    @Mixin(name = "gRPC connections")
    GrpcKeepaliveFlags grpcKeepalive = new GrpcKeepaliveFlags();

    @Mixin(name = "Metrics")
    MetricsFlags metrics = new MetricsFlags();

    @Mixin(name = "Memory")
    MemoryFlags memory = new MemoryFlags();

    @Mixin(name = "Limits")
    LimitFlags limits = new LimitFlags();

    @Mixin(name = "Connections")
    ConnectionFlags connections = new ConnectionFlags();

    @Mixin(name = "Server")
    ServerFlags server = new ServerFlags();

    @Mixin(name = "Logging")
    LogFlags log = new LogFlags();

    @Mixin(name = "Access")
    AccessFlags access = new AccessFlags();

    @Mixin(name = "Tracing")
    TraceFlags trace = new TraceFlags();

    @Mixin(name = "Help")
    HelpFlag help = new HelpFlag();

    ServeCommand(ServeAction action) {
        this.action = action;
    }

    @Override
    public Integer call() {
        return action.serve(
                settings(),
                log.settings(),
                KnownFlags.warnings(spec.commandLine().getParseResult()));
    }

    private ServerSettings settings() {
        return new ServerSettings(
                server.id,
                new LifecycleSettings(
                        server.readyFile,
                        Duration.ofSeconds(server.exitTimeoutSeconds),
                        Duration.ofSeconds(server.drainSeconds)),
                models.settings(spec, modelList, batching, tensorFlow),
                memory.settings(spec),
                new ListenerSettings(
                        http.settings(httpTls.files(spec)),
                        grpc.settings(grpcTls.files(spec), grpcKeepalive.settings()),
                        tensorFlowServing(),
                        metrics.settings(http.address)),
                new ClientSettings(access.settings(spec), limits.settings(), connections.settings()),
                trace.settings());
    }

    private TensorFlowServingSettings tensorFlowServing() {
        TensorFlowSettings protocol = new TensorFlowSettings(
                http.restCors,
                Duration.ofMillis(http.restTimeoutMillis),
                http.methodNames,
                grpc.tensorContent,
                grpc.anyLabels,
                Optional.empty());
        return new TensorFlowServingSettings(http.restPort, grpc.tensorFlowPort, protocol, metrics.monitoringFile);
    }
}
