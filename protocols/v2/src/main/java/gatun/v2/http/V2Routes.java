// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static gatun.http.routes.RouteTable.Route.get;
import static gatun.http.routes.RouteTable.Route.post;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.server.ServerResources;
import gatun.v2.http.RegionRoutes.CudaMemoryRoutes;
import gatun.v2.http.RegionRoutes.SharedMemoryRoutes;
import gatun.v2.lane.Lanes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The paths of the v2 protocol. Names of models and regions are taken as sent, not decoded. */
public final class V2Routes {
    private static final String ROOT = "/v2";
    private static final String MODEL = "/v2/models/{model}[/versions/{version:number}]";
    private static final String LANE = "/v2/lanes/{lane}";
    private static final String REPOSITORY = "/v2/repository[/{repository}]";

    private V2Routes() {}

    /** The routes to {@code server}, those of lanes included; {@code settings} limit bodies and rule headers. */
    public static RouteTable to(InferenceServer server, ProtocolSettings settings, ClientRegions regions, Lanes lanes) {
        List<Route> rows = new ArrayList<>(rows(server, settings, regions, InferResponseBody.BINARY));
        JsonBody jsonBody = new JsonBody(server, settings.maxInputByteSize());
        rows.addAll(laneRows(
                new LaneRoutes(server, lanes, regions, jsonBody, settings.http().forwarding())));
        return table(rows, settings.http());
    }

    /** The same without lanes, for other paths that lead to these. */
    public static RouteTable to(InferenceServer server, ProtocolSettings settings, ClientRegions regions) {
        return to(server, settings, regions, InferResponseBody.BINARY);
    }

    /** The same with another head for inference responses with bytes behind their JSON, up to the length of that. */
    public static RouteTable to(
            InferenceServer server, ProtocolSettings settings, ClientRegions regions, ResponseHeaders.Constant binary) {
        return table(rows(server, settings, regions, binary), settings.http());
    }

    private static RouteTable table(List<Route> rows, HeaderRules headers) {
        return new RouteTable(ROOT, rows, headers.access(), StandardConventions.INSTANCE);
    }

    private static List<Route> laneRows(LaneRoutes lane) {
        return List.of(
                post(
                        ROOT + "/lanes",
                        ApiGroup.SHARED_MEMORY,
                        "Opens a lane in memory of the client, for as long as the connection lasts",
                        V2Operations.LANE_OPEN,
                        plain(lane::open)),
                post(
                        LANE + "/models/{model}[/versions/{version:number}]/prepare",
                        ApiGroup.INFERENCE,
                        "Prepares requests to a model in a lane",
                        V2Operations.LANE_PREPARE,
                        (exchange, path) ->
                                lane.prepare(exchange, path.value("lane"), path.value("model"), path.value("version"))),
                post(
                        LANE + "/drop",
                        ApiGroup.INFERENCE,
                        "Forgets a prepared request of a lane",
                        V2Operations.LANE_DROP,
                        (exchange, path) -> lane.drop(exchange, path.value("lane"))));
    }

    private static List<Route> rows(
            InferenceServer server, ProtocolSettings settings, ClientRegions regions, ResponseHeaders.Constant binary) {
        long maxInputByteSize = settings.maxInputByteSize();
        HeaderForwarding forwarding = settings.http().forwarding();
        JsonBody jsonBody = new JsonBody(server, maxInputByteSize);
        InferRoute infer = new InferRoute(server, regions, maxInputByteSize, forwarding, binary);
        GenerateRoute generate = new GenerateRoute(server, jsonBody, maxInputByteSize, forwarding);
        ModelApiRoute api = new ModelApiRoute(server);
        MetadataRoutes metadata = new MetadataRoutes(server, settings.healthBodies());
        StatisticsRoutes statistics = new StatisticsRoutes(server);
        LoggingRoutes logging = new LoggingRoutes(server, jsonBody);
        TraceRoutes trace = new TraceRoutes(server, jsonBody);
        RepositoryRoutes repository = new RepositoryRoutes(server, jsonBody);
        SharedMemoryRoutes system = new SharedMemoryRoutes(regions, jsonBody);
        CudaMemoryRoutes cuda = new CudaMemoryRoutes(regions, jsonBody);
        return List.of(
                post(MODEL + "/infer", ApiGroup.INFERENCE, "Infers", V2Operations.INFER, ofVersion(infer::answer)),
                post(
                        MODEL + "/generate",
                        ApiGroup.INFERENCE,
                        "Infers from plain JSON",
                        V2Operations.GENERATE,
                        ofVersion(generate::answerOnce)),
                post(
                        MODEL + "/generate_stream",
                        ApiGroup.INFERENCE,
                        "Infers from plain JSON, and streams the responses as server-sent events",
                        V2Operations.GENERATE_STREAM,
                        ofVersion(generate::answerStream)),
                get(
                        ROOT,
                        ApiGroup.METADATA,
                        "The server's name, version and extensions",
                        V2Operations.SERVER,
                        plain(metadata::server)),
                get(
                        ROOT + "/health/live",
                        ApiGroup.HEALTH,
                        "Whether the server is live",
                        V2Operations.LIVE,
                        plain(metadata::live)),
                get(
                        ROOT + "/health/ready",
                        ApiGroup.HEALTH,
                        "Whether the server is ready",
                        V2Operations.READY,
                        plain(metadata::ready)),
                get(
                        MODEL,
                        ApiGroup.METADATA,
                        "A model's inputs and outputs",
                        V2Operations.MODEL,
                        ofVersion(metadata::model)),
                get(
                        MODEL + "/openapi.json",
                        ApiGroup.METADATA,
                        "A model's inference with its own tensors, as OpenAPI",
                        V2Operations.MODEL_OPENAPI,
                        ofVersion(api::answer)),
                get(
                        MODEL + "/ready",
                        ApiGroup.HEALTH,
                        "Whether a model is ready",
                        V2Operations.MODEL_READY,
                        ofVersion(metadata::modelReady)),
                get(
                        MODEL + "/config",
                        ApiGroup.MODEL_CONFIG,
                        "A model's configuration",
                        V2Operations.CONFIG,
                        ofVersion(metadata::modelConfig)),
                get(
                        ROOT + "/models/stats",
                        ApiGroup.STATISTICS,
                        "The statistics of all models",
                        V2Operations.ALL_STATISTICS,
                        plain(statistics::all)),
                get(
                        MODEL + "/stats",
                        ApiGroup.STATISTICS,
                        "A model's statistics",
                        V2Operations.STATISTICS,
                        ofVersion(statistics::model)),
                post(
                        REPOSITORY + "/index",
                        ApiGroup.MODEL_REPOSITORY,
                        "The models of the repositories and their states",
                        V2Operations.INDEX,
                        plain(repository::index)),
                post(
                        REPOSITORY + "/models/{model}/load",
                        ApiGroup.MODEL_REPOSITORY,
                        "Loads a model, or loads it anew",
                        V2Operations.LOAD,
                        repository::load),
                post(
                        REPOSITORY + "/models/{model}/unload",
                        ApiGroup.MODEL_REPOSITORY,
                        "Unloads a model",
                        V2Operations.UNLOAD,
                        repository::unload),
                get(
                        ROOT + "/systemsharedmemory[/region/{region}]/status",
                        ApiGroup.SHARED_MEMORY,
                        "The registered regions of system memory",
                        V2Operations.SYSTEM_STATUS,
                        ofRegion(system::status)),
                post(
                        ROOT + "/systemsharedmemory[/region/{region}]/register",
                        ApiGroup.SHARED_MEMORY,
                        "Registers a region of system memory",
                        V2Operations.SYSTEM_REGISTER,
                        ofRegion(system::register)),
                post(
                        ROOT + "/systemsharedmemory[/region/{region}]/unregister",
                        ApiGroup.SHARED_MEMORY,
                        "Unregisters one region of system memory, or all",
                        V2Operations.UNREGISTER,
                        ofRegion(system::unregister)),
                get(
                        ROOT + "/cudasharedmemory[/region/{region}]/status",
                        ApiGroup.SHARED_MEMORY,
                        "The registered regions of CUDA memory",
                        V2Operations.CUDA_STATUS,
                        ofRegion(cuda::status)),
                post(
                        ROOT + "/cudasharedmemory[/region/{region}]/register",
                        ApiGroup.SHARED_MEMORY,
                        "Registers a region of CUDA memory",
                        V2Operations.CUDA_REGISTER,
                        ofRegion(cuda::register)),
                post(
                        ROOT + "/cudasharedmemory[/region/{region}]/unregister",
                        ApiGroup.SHARED_MEMORY,
                        "Unregisters one region of CUDA memory, or all",
                        V2Operations.UNREGISTER,
                        ofRegion(cuda::unregister)),
                get(
                        ROOT + "/trace/setting",
                        ApiGroup.TRACE,
                        "The settings of traces",
                        V2Operations.TRACE,
                        plain(trace::show)),
                post(
                        ROOT + "/trace/setting",
                        ApiGroup.TRACE,
                        "Changes the settings of traces",
                        V2Operations.TRACE_CHANGE,
                        plain(trace::change)),
                get(
                        ROOT + "/models/{model}/trace/setting",
                        ApiGroup.TRACE,
                        "The settings of a model's traces",
                        V2Operations.MODEL_TRACE,
                        ofModel(trace::showModel)),
                post(
                        ROOT + "/models/{model}/trace/setting",
                        ApiGroup.TRACE,
                        "Changes the settings of a model's traces",
                        V2Operations.TRACE_CHANGE,
                        ofModel(trace::changeModel)),
                get(
                        ROOT + "/logging",
                        ApiGroup.LOGGING,
                        "The settings of the log",
                        V2Operations.LOG,
                        plain(logging::show)),
                post(
                        ROOT + "/logging",
                        ApiGroup.LOGGING,
                        "Changes the settings of the log",
                        V2Operations.LOG_CHANGE,
                        plain(logging::change)));
    }

    private interface PlainHandler {
        void answer(Exchange exchange);
    }

    private interface NameHandler {
        void answer(Exchange exchange, String name);
    }

    private interface VersionHandler {
        void answer(Exchange exchange, String model, String version);
    }

    private static RouteHandler plain(PlainHandler handler) {
        return (exchange, path) -> handler.answer(exchange);
    }

    private static RouteHandler ofModel(NameHandler handler) {
        return (exchange, path) -> handler.answer(exchange, path.value("model"));
    }

    /** The version is empty where the path has none. */
    private static RouteHandler ofVersion(VersionHandler handler) {
        return (exchange, path) -> handler.answer(exchange, path.value("model"), path.value("version"));
    }

    /** The region is empty where the path has none. */
    private static RouteHandler ofRegion(NameHandler handler) {
        return (exchange, path) -> handler.answer(exchange, path.value("region"));
    }

    /** The server's log settings: reads them, and changes them from the next line on. Safe for any thread. */
    static final class LoggingRoutes {
        private final ServerResources server;
        private final JsonBody jsonBody;

        LoggingRoutes(ServerResources server, JsonBody jsonBody) {
            this.server = server;
            this.jsonBody = jsonBody;
        }

        void show(Exchange exchange) {
            LogSettings settings = server.log().settings();
            JsonWriter json = exchange.json(JsonResponse.HEADERS);
            json.raw("{\"log_file\":")
                    .string(settings.file().map(Path::toString).orElse(""));
            json.raw(",\"log_info\":").bool(settings.info());
            json.raw(",\"log_warning\":").bool(settings.warning());
            json.raw(",\"log_error\":").bool(settings.error());
            json.raw(",\"log_verbose_level\":").signed(settings.verbosity());
            json.raw(",\"log_format\":").string(settings.format().wireName());
            JsonResponse.send(exchange, json.raw('}'));
        }

        /** Changes the settings that the body names, all or none, and answers with all settings. */
        void change(Exchange exchange) {
            List<UnaryOperator<LogSettings>> changes = new ArrayList<>();
            jsonBody.readControl(exchange, json -> readMember(json, changes));
            server.log().change(before -> {
                LogSettings settings = before;
                for (UnaryOperator<LogSettings> change : changes) {
                    settings = change.apply(settings);
                }
                return settings;
            });
            show(exchange);
        }

        private static void readMember(JsonReader json, List<UnaryOperator<LogSettings>> changes) {
            String name = json.name();
            if (json.peek() == JsonKind.NULL) {
                json.skipValue();
                return;
            }
            switch (name) {
                case "log_file" -> throw LogControl.fileIsFixed();
                case "log_info" -> {
                    boolean logged = json.readBoolean("");
                    changes.add(settings -> settings.withInfo(logged));
                }
                case "log_warning" -> {
                    boolean logged = json.readBoolean("");
                    changes.add(settings -> settings.withWarning(logged));
                }
                case "log_error" -> {
                    boolean logged = json.readBoolean("");
                    changes.add(settings -> settings.withError(logged));
                }
                case "log_verbose_level" -> {
                    long level = json.readUnsigned("");
                    int known = level < 0 ? Integer.MAX_VALUE : (int) Math.min(level, Integer.MAX_VALUE);
                    changes.add(settings -> settings.withVerbosity(known));
                }
                case "log_format" -> {
                    LogFormat format = format(json.readString(""));
                    changes.add(settings -> settings.withFormat(format));
                }
                default -> json.skipValue();
            }
        }

        private static LogFormat format(String name) {
            return LogFormat.of(name)
                    .orElseThrow(() -> new GatunException(
                            ErrorCode.UNAVAILABLE, "invalid argument for --log_format, got: " + name));
        }
    }
}
