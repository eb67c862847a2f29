// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.Age;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.ClientPings;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings.Pings;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.server.settings.ClientSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ServerSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;

/** {@code gatun serve}: Triton's flags, so that existing argument lists work. They overlay the settings. */
final class ServeCommand implements Callable<Integer> {
    private final ServeAction action;
    private @Nullable CommandSpec spec;
    private final List<Section> sections = new ArrayList<>();
    private final List<ProtocolProvider> protocols;
    private final ModelFlags models;
    private final ModelListFlags modelList;
    private final StoreFlags stores;
    private final TensorFlowFlags tensorFlow;
    private final HttpFlags http;
    private final HttpTlsFlags httpTls;
    private final GrpcFlags grpc;
    private final GrpcTlsFlags grpcTls;
    private final GrpcKeepaliveFlags grpcKeepalive;
    private final MetricsFlags metrics;
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
        tensorFlow = group("TensorFlow as TensorFlow Serving is told", new TensorFlowFlags());
        http = group("HTTP", new HttpFlags(listeners.http()));
        httpTls = group("HTTP over TLS", new HttpTlsFlags());
        grpc = group("gRPC", new GrpcFlags(listeners.grpc()));
        grpcTls = group("gRPC over TLS", new GrpcTlsFlags());
        grpcKeepalive = group(
                "gRPC connections", new GrpcKeepaliveFlags(listeners.grpc().keepalive()));
        metrics = group("Metrics", new MetricsFlags(listeners.metrics()));
        memory = group("Memory", new MemoryFlags(standard.memory()));
        limits = group("Limits", new LimitFlags(standard.clients().limits()));
        connections =
                group("Connections", new ConnectionFlags(standard.clients().connections()));
        server = group("Server", new ServerFlags(standard));
        log = group("Logging", new LogFlags());
        access = group("Access", new AccessFlags());
        trace = group("Tracing", new TraceFlags());
        protocols = listeners.protocols();
        protocols.forEach(protocol -> protocol.flags().forEach(this::place));
    }

    /** The command. {@code standard} holds the defaults. */
    static CommandLine create(ServeAction action, ServerSettings standard) {
        ServeCommand serve = new ServeCommand(action, standard);
        CommandSpec spec = CommandSpec.wrapWithoutInspection(serve);
        SequencedMap<String, CommandSpec> specs = new LinkedHashMap<>();
        for (Section section : serve.sections) {
            FlagSpecs.add(section.flags(), specs.computeIfAbsent(section.title(), title -> CommandSpec.create()));
        }
        specs.forEach(spec::addMixin);
        spec.addMixin("Help", HelpFlag.mixin());
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
        serve.spec = spec;
        return new CommandLine(spec);
    }

    /** Serves by {@code arguments} alone, and returns the exit status; empty, and nothing was done, where they are not plain. */
    static OptionalInt servePlainly(ServeAction action, List<String> arguments) {
        ServeCommand serve = new ServeCommand(action, ServerSettings.standard());
        if (!PlainArguments.read(serve.sections.stream().map(Section::flags).toList(), arguments)) {
            return OptionalInt.empty();
        }
        ServerSettings settings;
        try {
            settings = serve.settings();
        } catch (FlagException e) {
            return OptionalInt.empty(); // and the whole command line says what is wrong
        }
        return OptionalInt.of(action.serve(settings, serve.log.settings(), List.of()));
    }

    private <G extends FlagGroup> G group(String title, G group) {
        sections.add(new Section(title, "", group));
        return group;
    }

    /** Puts {@code section} behind the last of its title, or else behind the one that it follows. */
    private void place(Section section) {
        List<String> titles = sections.stream().map(Section::title).toList();
        int same = titles.lastIndexOf(section.title());
        int before = same >= 0 ? same : titles.lastIndexOf(section.after());
        sections.add(before >= 0 ? before + 1 : sections.size(), section);
    }

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        ServerSettings settings;
        try {
            settings = settings();
        } catch (FlagException e) {
            throw new ParameterException(command, e.getMessage(), e);
        }
        return action.serve(settings, log.settings(), KnownFlags.warnings(command.getParseResult()));
    }

    private ServerSettings settings() {
        server.requireProfile();
        ServerSettings settings = new ServerSettings(
                server.id.value(),
                server.lifecycle(),
                models.settings(modelList, tensorFlow, stores),
                memory.settings(),
                new ListenerSettings(
                        http.settings(httpTls.files()),
                        grpc.settings(grpcTls.files(protocols), grpcKeepalive.settings()),
                        metrics.settings(),
                        protocols),
                new ClientSettings(access.settings(), limits.settings(), connections.settings(), access.hosts()),
                trace.settings());
        protocols.forEach(ProtocolProvider::check);
        return settings;
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
