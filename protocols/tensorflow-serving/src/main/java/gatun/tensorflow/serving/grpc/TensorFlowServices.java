// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Int64Value;
import gatun.grpc.GrpcService;
import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InPlaceMethods.InPlaceMarshaller;
import gatun.grpc.message.InferenceCall;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.SignatureDefs;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.VersionStatuses;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelMetadataResponse;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.GetModelStatusResponse;
import gatun.wire.tensorflow.serving.ModelServiceGrpc;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import gatun.wire.tensorflow.serving.ReloadConfigResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Puts together TensorFlow Serving's services, each method with its handler. */
public final class TensorFlowServices {
    private static final Map<String, ApiGroup> PREDICTION_GROUPS = Map.ofEntries(
            Map.entry("Predict", ApiGroup.INFERENCE),
            Map.entry("Classify", ApiGroup.INFERENCE),
            Map.entry("Regress", ApiGroup.INFERENCE),
            Map.entry("MultiInference", ApiGroup.INFERENCE),
            Map.entry("GetModelMetadata", ApiGroup.METADATA));

    private static final Map<String, ApiGroup> MODEL_GROUPS = Map.ofEntries(
            Map.entry("GetModelStatus", ApiGroup.METADATA),
            Map.entry("HandleReloadConfigRequest", ApiGroup.MODEL_REPOSITORY));

    private static final Map<String, ApiGroup> PROFILER_GROUPS = Map.ofEntries(
            Map.entry("Profile", ApiGroup.TRACE),
            Map.entry("Terminate", ApiGroup.TRACE),
            Map.entry("Monitor", ApiGroup.STATISTICS));

    private TensorFlowServices() {}

    /** {@code tensorflow.serving.PredictionService} of one server. */
    public static GrpcService prediction(InferenceServer server, TensorFlowSettings settings) {
        @Nullable ServingMetrics metrics = settings.metrics().orElse(null);
        Servables servables = new Servables(server);
        PredictDecoder predictions = new PredictDecoder(server.limits(), server.heap());
        PredictExchange exchange = new PredictExchange(
                server, servables, new PredictEncoder(server.buffers(), settings.tensorContent()), metrics);
        ExampleDecoder decoder = new ExampleDecoder(server.limits(), server.heap());
        ExampleService examples = new ExampleService(
                servables,
                new ExampleResponses(
                        new ExampleRuns(server.buffers(), request -> infer(server, request), metrics),
                        settings.methodNames()),
                metrics);
        ServerServiceDefinition service = InPlaceMethods.replace(
                ControlMethods.limit(new PredictionService(servables).bindService(), server),
                List.of(
                        InPlaceMethods.method(
                                PredictionServiceGrpc.getPredictMethod(),
                                new InPlaceMarshaller<>(predictions::decode, PredictDecoder::landingOffset),
                                server,
                                (call, headers) -> InferenceCall.begin(call, headers, server, exchange)),
                        examples(
                                PredictionServiceGrpc.getClassifyMethod(), server, decoder::decode, examples::classify),
                        examples(PredictionServiceGrpc.getRegressMethod(), server, decoder::decode, examples::regress),
                        examples(
                                PredictionServiceGrpc.getMultiInferenceMethod(),
                                server,
                                decoder::decodeTasks,
                                examples::multiInference)));
        return new GrpcService(service, PREDICTION_GROUPS);
    }

    /** Answers a request, traced if requests to its model are. */
    private static InferenceResponse infer(InferenceServer server, InferenceRequest request) {
        ModelVersion model = request.model();
        Optional<RequestTrace> trace =
                server.tracing().begin(model.name(), model.version(), server, none -> Optional.empty());
        trace.ifPresent(request::trace);
        try {
            return server.infer(request);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private static ServerMethodDefinition<?, ?> examples(
            MethodDescriptor<?, ?> generated,
            InferenceServer server,
            Function<MemorySegment, ExampleMessage> decoder,
            ExampleCall.Responses responses) {
        // Examples are copied to where the model reads them, wherever the message lies.
        return InPlaceMethods.method(
                generated,
                new InPlaceMarshaller<>(decoder, start -> 0),
                server,
                (call, headers) -> ExampleCall.begin(call, responses));
    }

    /** {@code tensorflow.serving.ModelService} of one server. */
    public static GrpcService models(InferenceServer server, TensorFlowSettings settings) {
        ConfigReload reload = new ConfigReload(
                server, settings.anyLabels(), settings.metrics().orElse(null));
        return new GrpcService(
                ControlMethods.limit(new ModelService(server, reload).bindService(), server), MODEL_GROUPS);
    }

    /** {@code tensorflow.ProfilerService} of one server. */
    public static GrpcService profiler(InferenceServer server) {
        return new GrpcService(
                ControlMethods.limit(new ProfilerService(server).bindService(), server), PROFILER_GROUPS);
    }

    /** In which state the versions of models are, and which models are served. */
    static final class ModelService extends ModelServiceGrpc.ModelServiceImplBase {
        private final InferenceServer server;
        private final ConfigReload reload;

        /** Keeps two replacements of the list apart. */
        private final ReentrantLock replacing = new ReentrantLock();

        ModelService(InferenceServer server, ConfigReload reload) {
            this.server = server;
            this.reload = reload;
        }

        @Override
        public void getModelStatus(GetModelStatusRequest request, StreamObserver<GetModelStatusResponse> observer) {
            Statuses.answer(observer, () -> status(request));
        }

        @Override
        public void handleReloadConfigRequest(
                ReloadConfigRequest request, StreamObserver<ReloadConfigResponse> observer) {
            Statuses.answer(observer, () -> {
                replacing.lock();
                try {
                    return reload.apply(request);
                } finally {
                    replacing.unlock();
                }
            });
        }

        private GetModelStatusResponse status(GetModelStatusRequest request) {
            if (!request.hasModelSpec()) {
                throw GatunException.invalidArgument("Missing ModelSpec");
            }
            ModelSpec spec = request.getModelSpec();
            return GetModelStatusResponse.newBuilder()
                    .addAllModelVersionStatus(VersionStatuses.of(
                            server, spec.getName(), Servable.of(spec).version()))
                    .build();
        }
    }

    /** Model metadata of the prediction service; inferences: {@link PredictExchange}, {@link ExampleService}. */
    static final class PredictionService extends PredictionServiceGrpc.PredictionServiceImplBase {
        private static final String SIGNATURE_DEF = "signature_def";

        private final Servables servables;

        PredictionService(Servables servables) {
            this.servables = servables;
        }

        private static void requireSpec(boolean present) {
            if (!present) {
                throw GatunException.invalidArgument("Missing ModelSpec");
            }
        }

        @Override
        public void getModelMetadata(
                GetModelMetadataRequest request, StreamObserver<GetModelMetadataResponse> observer) {
            Statuses.answer(observer, () -> metadata(request));
        }

        private GetModelMetadataResponse metadata(GetModelMetadataRequest request) {
            requireSpec(request.hasModelSpec());
            if (request.getMetadataFieldCount() == 0) {
                throw GatunException.invalidArgument(
                        "GetModelMetadataRequest must specify at least one metadata_field");
            }
            for (String field : request.getMetadataFieldList()) {
                if (!field.equals(SIGNATURE_DEF)) {
                    throw GatunException.invalidArgument("Metadata field " + field + " is not supported");
                }
            }
            ModelVersion model = servables.find(Servable.of(request.getModelSpec()));
            return GetModelMetadataResponse.newBuilder()
                    .setModelSpec(
                            ModelSpec.newBuilder().setName(model.name()).setVersion(Int64Value.of(model.version())))
                    .putMetadata(SIGNATURE_DEF, Any.pack(SignatureDefs.of(model)))
                    .build();
        }
    }

    /** A call with examples, maybe for several inferences. Its thread runs them, parked while the engine computes. */
    static final class ExampleCall extends ServerCall.Listener<ExampleMessage> {
        /** Answers a message. Thread-safe. */
        interface Responses {
            /** The response's message; takes over the request's. Throws GatunException, StatusRuntimeException. */
            OutboundMessage answer(ExampleMessage message);
        }

        private final ServerCall<ExampleMessage, OutboundMessage> call;
        private final Responses responses;

        /** Between the message and the half-close; owned here. */
        private @Nullable ExampleMessage message;

        private ExampleCall(ServerCall<ExampleMessage, OutboundMessage> call, Responses responses) {
            this.call = call;
            this.responses = responses;
        }

        static ServerCall.Listener<ExampleMessage> begin(
                ServerCall<ExampleMessage, OutboundMessage> call, Responses responses) {
            // One more than is right, to notice a client that sends it.
            call.request(2);
            return new ExampleCall(call, responses);
        }

        @Override
        public void onMessage(ExampleMessage next) {
            if (message != null) {
                next.close();
                message.close();
                message = null;
                call.close(
                        Status.INVALID_ARGUMENT.withDescription("a unary call has more than one request"),
                        new Metadata());
                return;
            }
            message = next;
        }

        @Override
        public void onHalfClose() {
            ExampleMessage request = message;
            message = null;
            if (request == null) {
                call.close(Status.INVALID_ARGUMENT.withDescription("the call has no request"), new Metadata());
                return;
            }
            ClientQuotaKey sender = call.getAttributes().get(GrpcConnectionSelector.SENDER);
            if (sender != null) {
                request.sender = sender;
            }
            OutboundMessage response;
            try (request) {
                response = responses.answer(request);
            } catch (GatunException e) {
                call.close(Statuses.of(e), new Metadata());
                return;
            } catch (StatusRuntimeException e) {
                call.close(e.getStatus(), new Metadata());
                return;
            }
            call.sendHeaders(new Metadata());
            call.sendMessage(response);
            call.close(Status.OK, new Metadata());
        }

        @Override
        public void onCancel() {
            if (message != null) {
                message.close();
                message = null;
            }
        }
    }
}
