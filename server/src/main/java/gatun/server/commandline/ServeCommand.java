// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.KeepaliveSettings;
import gatun.grpc.connection.KeepaliveSettings.Age;
import gatun.grpc.connection.KeepaliveSettings.ClientPings;
import gatun.grpc.connection.KeepaliveSettings.Pings;
import gatun.server.commandline.FlagGroup.Flag;
import gatun.server.commandline.FlagGroup.OverlayFlags;
import gatun.server.commandline.ModelListFlags.BatchingFlags;
import gatun.server.settings.ClientSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.ConsoleSettings;
import gatun.server.settings.ListenerSettings.TensorFlowServingSettings;
import gatun.server.settings.ServerSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** {@code gatun serve}: Triton's flags, so that existing argument lists work. They overlay the settings. */
final class ServeCommand implements Callable<Integer> {
    private final ServeAction action;
    private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);
    private final ModelFlags models;
    private final ModelListFlags modelList;
    private final StoreFlags stores;
    private final BatchingFlags batching;
    private final TensorFlowFlags tensorFlow;
    private final HttpFlags http;
    private final HttpTlsFlags httpTls;
    private final GrpcFlags grpc;
    private final GrpcTlsFlags grpcTls;
    private final GrpcKeepaliveFlags grpcKeepalive;
    private final LaneFlags lanes;
    private final MetricsFlags metrics;
    private final ConsoleFlags console;
    private final CloudFlags cloud;
    private final MemoryFlags memory;
    private final LimitFlags limits;
    private final ConnectionFlags connections;
    private final ServerFlags server;
    private final LogFlags log;
    private final AccessFlags access;
    private final TraceFlags trace;

    private ServeCommand(ServeAction action, ServerSettings standard) {
        this.action = action;
        ListenerSettings listeners = standard.listeners();
        models = group("Models", new ModelFlags(standard.models()));
        stores = group(
                "Models in object stores", new StoreFlags(standard.models().stores()));
        modelList = group("Models as TensorFlow Serving is told", new ModelListFlags());
        batching = group("Batching as TensorFlow Serving is told", new BatchingFlags());
        tensorFlow = group("TensorFlow as TensorFlow Serving is told", new TensorFlowFlags());
        http = group("HTTP", new HttpFlags(listeners));
        httpTls = group("HTTP over TLS", new HttpTlsFlags());
        grpc = group("gRPC", new GrpcFlags(listeners));
        grpcTls = group("gRPC over TLS", new GrpcTlsFlags());
        grpcKeepalive = group(
                "gRPC connections", new GrpcKeepaliveFlags(listeners.grpc().keepalive()));
        lanes = group("Lanes", new LaneFlags(listeners.lanes()));
        metrics = group("Metrics", new MetricsFlags(listeners.metrics()));
        console = group("Console", new ConsoleFlags(listeners.console()));
        cloud = group("Vertex AI and SageMaker", new CloudFlags(listeners.cloud()));
        memory = group("Memory", new MemoryFlags(standard.memory()));
        limits = group("Limits", new LimitFlags(standard.clients().limits()));
        connections =
                group("Connections", new ConnectionFlags(standard.clients().connections()));
        server = group("Server", new ServerFlags(standard));
        log = group("Logging", new LogFlags());
        access = group("Access", new AccessFlags());
        trace = group("Tracing", new TraceFlags());
        spec.addMixin("Help", HelpFlag.mixin());
    }

    /**
     * The command.
     *
     * @param action what it does with the settings
     * @param standard what holds where no flag says otherwise
     */
    static CommandLine create(ServeAction action, ServerSettings standard) {
        CommandSpec spec = new ServeCommand(action, standard).spec;
        KnownFlags.addTo(spec);
        spec.name("serve");
        spec.usageMessage()
                .description("Serves models over HTTP, gRPC and shared memory.")
                .sortOptions(false)
                .width(80)
                .synopsisHeading("Usage: ")
                .customSynopsis("gatun serve [FLAG]... PATH...")
                .sectionMap()
                .put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new FlagHelp());
        return new CommandLine(spec);
    }

    private <G extends FlagGroup> G group(String title, G group) {
        spec.addMixin(title, group.flags());
        return group;
    }

    @Override
    public Integer call() {
        server.requireProfile(spec);
        return action.serve(
                settings(),
                log.settings(),
                KnownFlags.warnings(spec.commandLine().getParseResult()));
    }

    private ServerSettings settings() {
        return new ServerSettings(
                server.id.value(),
                server.lifecycle(),
                models.settings(spec, modelList, batching, tensorFlow, stores),
                memory.settings(spec),
                new ListenerSettings(
                        http.settings(httpTls.files(spec)),
                        grpc.settings(grpcTls.files(spec), grpcKeepalive.settings()),
                        tensorFlowServing(),
                        lanes.settings(),
                        metrics.settings(),
                        cloud.settings(),
                        console.settings()),
                new ClientSettings(access.settings(spec), limits.settings(), connections.settings(), access.hosts()),
                trace.settings());
    }

    private TensorFlowServingSettings tensorFlowServing() {
        TensorFlowSettings protocol = new TensorFlowSettings(
                http.restCors.value(),
                http.restTimeout.value(),
                http.methodNames.value(),
                grpc.tensorContent.value(),
                grpc.anyLabels.value(),
                grpc.profiler.value(),
                Optional.empty());
        return new TensorFlowServingSettings(
                http.restPort.value(), grpc.tensorFlowPort.value(), protocol, metrics.monitoringFile.value());
    }

    /** The page about the server. Read once. */
    static final class ConsoleFlags extends OverlayFlags<ConsoleSettings> {
        private final Flag<Boolean> enabled = yesOrNo(
                "--console",
                standard.enabled(),
                "Whether the HTTP port shows a page about the server at /console, and at / to browsers. Access to what"
                        + " it shows is the group console.");
        private final Flag<Optional<Integer>> port = optional(
                "--console-port",
                FlagType.PORT,
                "A port for the console, with HTTP's other requests, so that it is not on --http-port; 0 for any free"
                        + " port.");
        private final Flag<Optional<String>> address = optional(
                "--console-address",
                FlagType.TEXT.labelled("ADDRESS"),
                "The address of --console-port (default: that of --http-address).");

        ConsoleFlags(ConsoleSettings standard) {
            super(standard);
        }

        ConsoleSettings settings() {
            return new ConsoleSettings(enabled.value(), address.value(), port.value());
        }
    }

    /** How gRPC's connections are kept alive, and when they end. Read once. */
    static final class GrpcKeepaliveFlags extends OverlayFlags<KeepaliveSettings> {
        private final Flag<Duration> time = flag(
                "--grpc-keepalive-time",
                FlagType.MILLISECONDS,
                standard.pings().time(),
                "After so long without a sign of a client it is asked whether it is there.");
        private final Flag<Duration> timeout = flag(
                "--grpc-keepalive-timeout",
                FlagType.MILLISECONDS,
                standard.pings().timeout(),
                "How long its answer may take; then the connection ends.");
        private final Flag<Boolean> withoutCalls = yesOrNo(
                "--grpc-keepalive-permit-without-calls",
                standard.withoutCalls(),
                "Whether both sides may ask while no call runs.");
        private final Flag<Integer> pingsWithoutData = flag(
                "--grpc-http2-max-pings-without-data",
                FlagType.COUNT_OR_ANY,
                standard.pings().withoutData(),
                "How often the server asks while it has nothing else to send, 0 for any number.");
        private final Flag<Duration> leastPingInterval = flag(
                "--grpc-http2-min-recv-ping-interval-without-data",
                FlagType.MILLISECONDS_OR_NONE,
                standard.clientPings().leastInterval(),
                "How long a client must wait before it asks again while nothing is sent to it.");
        private final Flag<Integer> pingStrikes = flag(
                "--grpc-http2-max-ping-strikes",
                FlagType.COUNT_OR_ANY,
                standard.clientPings().strikes(),
                "How often it may ask too early before its connection ends, 0 for any number.");
        private final Flag<Duration> age = flag(
                "--grpc-max-connection-age",
                FlagType.MILLISECONDS_OR_NONE,
                standard.age().most().orElse(Duration.ZERO),
                "How old a connection may become, a tenth more or less, 0 for any age.");
        private final Flag<Duration> ageGrace = flag(
                "--grpc-max-connection-age-grace",
                FlagType.MILLISECONDS_OR_NONE,
                standard.age().grace().orElse(Duration.ZERO),
                "How long its calls may take then, 0 for any time.");

        GrpcKeepaliveFlags(KeepaliveSettings standard) {
            super(standard);
        }

        KeepaliveSettings settings() {
            return new KeepaliveSettings(
                    new Pings(time.value(), timeout.value(), pingsWithoutData.value()),
                    new ClientPings(leastPingInterval.value(), pingStrikes.value()),
                    withoutCalls.value(),
                    new Age(unlessZero(age), unlessZero(ageGrace)),
                    standard.patience());
        }

        private static Optional<Duration> unlessZero(Flag<Duration> flag) {
            return Optional.of(flag.value()).filter(Duration::isPositive);
        }
    }
}
