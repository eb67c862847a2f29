// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.RequestStatistics;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import gatun.wire.v1.HealthRequestStats;
import gatun.wire.v1.InferRequestStats;
import gatun.wire.v1.ModelConfig;
import gatun.wire.v1.ModelControlRequestStats;
import gatun.wire.v1.ModelReadyState;
import gatun.wire.v1.ModelReadyStateReason;
import gatun.wire.v1.ModelStatus;
import gatun.wire.v1.ModelVersionStatus;
import gatun.wire.v1.RepositoryRequestStats;
import gatun.wire.v1.RequestStatus;
import gatun.wire.v1.RequestStatusCode;
import gatun.wire.v1.ServerReadyState;
import gatun.wire.v1.ServerStatus;
import gatun.wire.v1.StatDuration;
import gatun.wire.v1.StatusRequestStats;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The legacy v1 API, shared by HTTP and gRPC, and so are its request ids and counts. Thread-safe. */
public final class V1Api {
    private final RequestStatuses statuses;
    private final ServerStatuses serverStatuses;
    private final V1InferRequests requests;
    private final ModelControl modelControl;
    private final SharedMemoryControl sharedMemory;
    private final ControlCounters counters;

    /** The API of {@code server}; {@code clientMemory} says what clients may do with shared memory. */
    public V1Api(InferenceServer server, ClientRegions.Rules clientMemory) {
        counters = new ControlCounters();
        statuses = new RequestStatuses(RequestStatuses.serverId(server.metadata()));
        serverStatuses = new ServerStatuses(server, counters);
        ClientRegions regions = new ClientRegions(server.regions(), clientMemory);
        requests = new V1InferRequests(server, regions);
        modelControl = new ModelControl(server);
        sharedMemory = new SharedMemoryControl(regions);
    }

    /** Makes the statuses of requests. */
    public RequestStatuses statuses() {
        return statuses;
    }

    /** Makes the statuses of the server and its models. */
    public ServerStatuses serverStatuses() {
        return serverStatuses;
    }

    /** Makes inference requests. */
    public V1InferRequests requests() {
        return requests;
    }

    /** Loads, unloads and lists models. */
    public ModelControl modelControl() {
        return modelControl;
    }

    /** Registers shared memory. */
    public SharedMemoryControl sharedMemory() {
        return sharedMemory;
    }

    /** Counts requests that are no inferences. */
    public ControlCounters counters() {
        return counters;
    }

    /** Makes the statuses of the server and its models. Safe for any thread. */
    public static final class ServerStatuses {
        /** The platform of a model whose engine has no name in v1. */
        private static final String OTHER_PLATFORM = "custom";

        /** Heap for one model's configuration and statistics, in bytes, at most. */
        private static final long MODEL_BYTE_SIZE = 8 << 10;

        private static final Parser<ModelConfig> CONFIG = DiscardUnknownFieldsParser.wrap(ModelConfig.parser());

        private final InferenceServer server;
        private final ControlCounters counters;
        private final long startNanos = System.nanoTime();

        ServerStatuses(InferenceServer server, ControlCounters counters) {
            this.server = server;
            this.counters = counters;
        }

        /** Whether the server is live or ready. Throws UNKNOWN for another mode, UNAVAILABLE at a stop. */
        public boolean healthy(String mode) {
            return switch (mode) {
                case "live" -> server.live();
                case "ready" -> server.ready();
                default -> throw new GatunException(ErrorCode.UNKNOWN, "unknown health mode '" + mode + "'");
            };
        }

        /** The server and all models; the caller closes it when the response is sent. */
        public AllStatuses all() {
            List<gatun.runtime.ModelStatus> index = server.index();
            return new AllStatuses(server.heap(), index.size() * MODEL_BYTE_SIZE, () -> status(index));
        }

        /** The server and one model. Throws INVALID_ARGUMENT when there is no such model. */
        public ServerStatus of(String model) {
            List<gatun.runtime.ModelStatus> lines = server.index().stream()
                    .filter(line -> line.name().equals(model))
                    .toList();
            if (lines.isEmpty()) {
                throw GatunException.invalidArgument("no status available for unknown model '" + model + "'");
            }
            return status(lines);
        }

        private ServerStatus status(List<gatun.runtime.ModelStatus> lines) {
            ServerStatus.Builder status = ServerStatus.newBuilder()
                    .setId(RequestStatuses.serverId(server.metadata()))
                    .setVersion(server.metadata().version())
                    .setReadyState(server.exiting() ? ServerReadyState.SERVER_EXITING : ServerReadyState.SERVER_READY)
                    .setUptimeNs(System.nanoTime() - startNanos)
                    .setStatusStats(
                            StatusRequestStats.newBuilder().setSuccess(counters.of(ControlCounters.Kind.STATUS)))
                    .setHealthStats(
                            HealthRequestStats.newBuilder().setSuccess(counters.of(ControlCounters.Kind.HEALTH)))
                    .setModelControlStats(ModelControlRequestStats.newBuilder()
                            .setSuccess(counters.of(ControlCounters.Kind.MODEL_CONTROL)))
                    .setRepositoryStats(RepositoryRequestStats.newBuilder()
                            .setSuccess(counters.of(ControlCounters.Kind.REPOSITORY)));
            Map<String, ModelStatistics> statistics = server.statistics().stream()
                    .collect(Collectors.toMap(
                            model -> model.name() + '/' + model.version(), Function.identity(), (one, other) -> one));
            lines.stream()
                    .collect(Collectors.groupingBy(gatun.runtime.ModelStatus::name, TreeMap::new, Collectors.toList()))
                    .forEach((name, versions) -> status.putModelStatus(name, model(name, versions, statistics)));
            return status.build();
        }

        private ModelStatus model(
                String name, List<gatun.runtime.ModelStatus> versions, Map<String, ModelStatistics> statistics) {
            ModelStatus.Builder model = ModelStatus.newBuilder();
            for (gatun.runtime.ModelStatus version : versions) {
                if (version.version().isEmpty()) {
                    continue;
                }
                ModelVersionStatus.Builder told =
                        ModelVersionStatus.newBuilder().setReadyState(state(version.state()));
                if (!version.reason().isEmpty()) {
                    told.setReadyStateReason(ModelReadyStateReason.newBuilder().setMessage(version.reason()));
                }
                ModelStatistics counted = statistics.get(name + '/' + version.version());
                if (counted != null) {
                    addCounts(told, counted);
                }
                model.putVersionStatus(Long.parseLong(version.version()), told.build());
            }
            if (versions.stream().anyMatch(version -> version.state() == ModelState.READY)) {
                addConfig(model, name);
            }
            return model.build();
        }

        private void addConfig(ModelStatus.Builder model, String name) {
            try {
                model.setConfig(config(server.model(name, "").config()));
            } catch (GatunException e) {
                // It was unloaded in this very moment: then there is no configuration to tell.
                model.clearConfig();
            }
        }

        /** Converts a configuration to v1's message, without the fields that came later. */
        static ModelConfig config(gatun.wire.inference.ModelConfig config) {
            try {
                ModelConfig.Builder known = CONFIG.parseFrom(config.toByteString()).toBuilder();
                if (known.getPlatform().isEmpty()) {
                    known.setPlatform(OTHER_PLATFORM);
                }
                return known.build();
            } catch (InvalidProtocolBufferException e) {
                throw new AssertionError("a configuration that was written just now", e);
            }
        }

        private static ModelReadyState state(ModelState state) {
            return switch (state) {
                case UNKNOWN -> ModelReadyState.MODEL_UNKNOWN;
                case LOADING -> ModelReadyState.MODEL_LOADING;
                case READY -> ModelReadyState.MODEL_READY;
                case UNLOADING -> ModelReadyState.MODEL_UNLOADING;
                case UNAVAILABLE -> ModelReadyState.MODEL_UNAVAILABLE;
            };
        }

        private static void addCounts(ModelVersionStatus.Builder version, ModelStatistics counted) {
            version.setModelExecutionCount(counted.executionCount())
                    .setModelInferenceCount(counted.totals().inferenceCount())
                    .setLastInferenceTimestampMilliseconds(counted.totals().lastInferenceMillis());
            counted.requests().forEach(size -> version.putInferStats(size.batchSize(), durations(size)));
            if (counted.failureCount() > 0) {
                // Most requests fail before their batch size is known.
                version.putInferStats(
                        1,
                        version.getInferStatsOrDefault(1, InferRequestStats.getDefaultInstance()).toBuilder()
                                .setFailed(duration(
                                        counted.failureCount(),
                                        counted.totals().failures().nanos()))
                                .build());
            }
        }

        private static InferRequestStats durations(RequestStatistics size) {
            long computeNanos = size.computeInputNanos() + size.computeInferNanos() + size.computeOutputNanos();
            return InferRequestStats.newBuilder()
                    .setSuccess(duration(size.count(), size.requestNanos()))
                    .setQueue(duration(size.count(), size.queueNanos()))
                    .setCompute(duration(size.count(), computeNanos))
                    .setComputeInput(duration(size.count(), size.computeInputNanos()))
                    .setComputeInfer(duration(size.count(), size.computeInferNanos()))
                    .setComputeOutput(duration(size.count(), size.computeOutputNanos()))
                    .build();
        }

        private static StatDuration duration(long count, long nanos) {
            return StatDuration.newBuilder()
                    .setCount(count)
                    .setTotalTimeNs(nanos)
                    .build();
        }
    }

    /** Makes the statuses of requests, each with a number of its own. Safe for any thread. */
    public static final class RequestStatuses {
        /** The id of a v1 server that was given none. */
        private static final String STANDARD_ID = "inference:0";

        /** The runtime's prefix of its texts, which v1 servers did not have. */
        private static final String ID_PREFIX = "[request id: ";

        private final String serverId;
        private final AtomicLong lastRequest = new AtomicLong();

        RequestStatuses(String serverId) {
            this.serverId = serverId;
        }

        /** The id of a server: the operator's, or the default of v1 servers. */
        static String serverId(ServerMetadata metadata) {
            return metadata.name().equals(ServerMetadata.STANDARD_NAME) ? STANDARD_ID : metadata.name();
        }

        /** The next request was answered. */
        public RequestStatus success() {
            return next(RequestStatusCode.SUCCESS).build();
        }

        /** The next request was not answered. */
        public RequestStatus failure(GatunException failure) {
            return next(code(failure.code())).setMsg(text(failure)).build();
        }

        /** The code that tells a client of such a failure. */
        public static RequestStatusCode code(ErrorCode code) {
            return switch (code) {
                case UNKNOWN -> RequestStatusCode.UNKNOWN;
                case INTERNAL -> RequestStatusCode.INTERNAL;
                case NOT_FOUND -> RequestStatusCode.NOT_FOUND;
                case INVALID_ARGUMENT -> RequestStatusCode.INVALID_ARG;
                // There was no code for a client that does not want its response any more.
                case UNAVAILABLE, CANCELLED -> RequestStatusCode.UNAVAILABLE;
                case RESOURCE_EXHAUSTED -> RequestStatusCode.INVALID_ARG;
                // Nor one for a client that may not do what others may.
                case UNSUPPORTED, PERMISSION_DENIED -> RequestStatusCode.UNSUPPORTED;
                case ALREADY_EXISTS -> RequestStatusCode.ALREADY_EXISTS;
            };
        }

        private RequestStatus.Builder next(RequestStatusCode code) {
            return RequestStatus.newBuilder()
                    .setCode(code)
                    .setServerId(serverId)
                    .setRequestId(lastRequest.incrementAndGet());
        }

        private static String text(GatunException failure) {
            // Sequences had no names then.
            String text =
                    failure.getMessage().replace("non-zero or non-empty correlation ID", "non-zero correlation ID");
            int end = text.startsWith(ID_PREFIX) ? text.indexOf("] ") : -1;
            return end < 0 ? text : text.substring(end + 2);
        }
    }
}
