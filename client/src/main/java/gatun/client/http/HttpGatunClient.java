// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.CudaRegion;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RegionControl;
import gatun.client.RepositoryModel;
import gatun.client.ServerAddress;
import gatun.client.ServerControl;
import gatun.client.ServerException;
import gatun.client.ServerMetadata;
import gatun.client.StatusCode;
import gatun.client.StreamReceiver;
import gatun.client.SystemRegion;
import gatun.client.UnreachableException;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import gatun.client.calls.SingleServerClient;
import gatun.client.calls.TensorMemory;
import gatun.client.http.ControlCalls.Paths;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.ModelStatisticsResponse;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A client over HTTP/1.1, on TCP, TLS or a Unix socket. Owns its connections. */
public final class HttpGatunClient implements SingleServerClient {
    private final ClientOptions options;
    private final HttpExchanges exchanges;
    private final HttpInferRequests requests;
    private final ServerControl server;
    private final ModelControl models;
    private final RegionControl regions;
    private final LaneControl lanes;

    /** A client with these options, whose address is one of HTTP. Connects with the first call. */
    public HttpGatunClient(ClientOptions options) {
        this.options = options;
        this.exchanges = new HttpExchanges(options);
        this.requests = new HttpInferRequests(options, exchanges.heads());
        ControlCalls calls = new ControlCalls(exchanges, options);
        this.server = new HttpServerControl(calls);
        this.models = new HttpModelControl(calls);
        this.regions = new HttpRegionControl(calls);
        this.lanes = new LaneControl(options, exchanges.heads(), calls);
    }

    @Override
    public InferResponse infer(InferRequest request) {
        return infer(request, Deadline.of(request.deadline().isPresent() ? request.deadline() : options.deadline()));
    }

    @Override
    public InferResponse infer(InferRequest request, Deadline deadline) {
        exchanges.requireOpen();
        TensorMemory.requireReadable(request);
        if (requests.areEncodedOnce()) {
            return infer(request, requests.encoded(request), deadline);
        }
        try (GrowingBuffer body = requests.body(request)) {
            return infer(request, requests.around(request, body), deadline);
        }
    }

    private InferResponse infer(InferRequest request, OutgoingRequest outgoing, Deadline deadline) {
        InferResponseReader reader = new InferResponseReader(request);
        return Attempts.make(
                options.retries(),
                deadline,
                outgoing.isRepeatable(),
                () -> exchanges.exchange(outgoing, reader, deadline));
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        exchanges.requireOpen();
        return AsyncCall.start(() -> infer(request), "gatun-client-infer");
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        throw new UnsupportedOperationException("there are no streams over HTTP, which " + address()
                + " speaks: make a client of the server's gRPC address, such as grpc://HOST:8001");
    }

    @Override
    public ServerControl server() {
        return server;
    }

    @Override
    public ModelControl models() {
        return models;
    }

    @Override
    public RegionControl regions() {
        return regions;
    }

    /** Lanes, for requests without a socket. */
    public LaneControl lanes() {
        return lanes;
    }

    @Override
    public String address() {
        return exchanges.address();
    }

    @Override
    public void close() {
        exchanges.close();
    }

    /** A server's regions over HTTP. */
    static final class HttpRegionControl implements RegionControl {
        private static final String SYSTEM = "system";
        private static final String CUDA = "cuda";

        private final ControlCalls calls;

        HttpRegionControl(ControlCalls calls) {
            this.calls = calls;
        }

        @Override
        public void register(String name, String key, long offset, long byteSize) {
            try (GrowingBuffer region = ControlJson.object(json -> {
                json.writeStringField("key", key);
                json.writeNumberField("offset", offset);
                json.writeNumberField("byte_size", byteSize);
            })) {
                calls.act(Paths.region(SYSTEM, name) + "/register", region.bytes(), false);
            }
        }

        @Override
        public void registerCuda(String name, byte[] handle, int device, long byteSize) {
            try (GrowingBuffer region = ControlJson.object(json -> {
                json.writeObjectFieldStart("raw_handle");
                json.writeBinaryField("b64", handle);
                json.writeEndObject();
                json.writeNumberField("device_id", device);
                json.writeNumberField("byte_size", byteSize);
            })) {
                calls.act(Paths.region(CUDA, name) + "/register", region.bytes(), false);
            }
        }

        @Override
        public void unregister(String name) {
            unregisterAt(Paths.region(SYSTEM, name));
        }

        @Override
        public void unregisterCuda(String name) {
            unregisterAt(Paths.region(CUDA, name));
        }

        @Override
        public void unregisterAll() {
            unregisterAt(Paths.regions(SYSTEM));
        }

        @Override
        public void unregisterAllCuda() {
            unregisterAt(Paths.regions(CUDA));
        }

        @Override
        public List<SystemRegion> regions() {
            return calls.get(Paths.regions(SYSTEM) + "/status", body -> {
                List<SystemRegion> regions = new ArrayList<>();
                for (ControlJson.Fields region : ControlJson.objects(body)) {
                    regions.add(new SystemRegion(
                            region.text("name"),
                            region.text("key"),
                            region.number("offset"),
                            region.number("byte_size")));
                }
                return regions;
            });
        }

        @Override
        public List<CudaRegion> cudaRegions() {
            return calls.get(Paths.regions(CUDA) + "/status", body -> {
                List<CudaRegion> regions = new ArrayList<>();
                for (ControlJson.Fields region : ControlJson.objects(body)) {
                    regions.add(new CudaRegion(
                            region.text("name"), region.number("device_id"), region.number("byte_size")));
                }
                return regions;
            });
        }

        private void unregisterAt(String path) {
            calls.act(path + "/unregister", MemorySegment.NULL, true);
        }
    }

    /** A server's models over HTTP. */
    static final class HttpModelControl implements ModelControl {
        private final ControlCalls calls;

        HttpModelControl(ControlCalls calls) {
            this.calls = calls;
        }

        @Override
        public boolean ready(String model, String version) {
            try {
                return calls.getOnce(
                        Paths.model(model, version) + "/ready", body -> HttpServerControl.isTrue(body, "ready"));
            } catch (ServerException e) {
                if (e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED) {
                    throw e;
                }
                return false;
            }
        }

        @Override
        public ModelMetadata metadata(String model, String version) {
            return calls.get(Paths.model(model, version), body -> {
                ControlJson.Fields found = ControlJson.object(body);
                return new ModelMetadata(
                        found.text("name"),
                        found.texts("versions"),
                        found.text("platform"),
                        specs(found.objects("inputs")),
                        specs(found.objects("outputs")));
            });
        }

        @Override
        public ModelConfig config(String model, String version) {
            return calls.get(
                    Paths.model(model, version) + "/config",
                    body -> ControlJson.message(body, ModelConfig.newBuilder()).build());
        }

        @Override
        public List<ModelStatistics> statistics(String model, String version) {
            String path = model.isEmpty() ? "/v2/models/stats" : Paths.model(model, version) + "/stats";
            return calls.get(path, body -> ControlJson.message(body, ModelStatisticsResponse.newBuilder())
                    .build()
                    .getModelStatsList());
        }

        @Override
        public List<RepositoryModel> index(boolean onlyReady) {
            try (GrowingBuffer wanted = ControlJson.object(json -> json.writeBooleanField("ready", onlyReady))) {
                return calls.ask("/v2/repository/index", wanted.bytes(), body -> {
                    List<RepositoryModel> models = new ArrayList<>();
                    for (ControlJson.Fields model : ControlJson.objects(body)) {
                        models.add(new RepositoryModel(
                                model.text("name"), model.text("version"), model.text("state"), model.text("reason")));
                    }
                    return models;
                });
            }
        }

        @Override
        public void load(String model, String config, Map<String, byte[]> files) {
            String path = Paths.repository(model) + "/load";
            if (config.isEmpty() && files.isEmpty()) {
                calls.act(path, MemorySegment.NULL, false);
                return;
            }
            try (GrowingBuffer parameters = ControlJson.object(json -> {
                json.writeObjectFieldStart("parameters");
                if (!config.isEmpty()) {
                    json.writeStringField("config", config);
                }
                for (Map.Entry<String, byte[]> file : files.entrySet()) {
                    json.writeBinaryField("file:" + file.getKey(), file.getValue());
                }
                json.writeEndObject();
            })) {
                calls.act(path, parameters.bytes(), false);
            }
        }

        @Override
        public void unload(String model, boolean dependents) {
            String path = Paths.repository(model) + "/unload";
            if (!dependents) {
                calls.act(path, MemorySegment.NULL, false);
                return;
            }
            try (GrowingBuffer parameters = ControlJson.object(json -> {
                json.writeObjectFieldStart("parameters");
                json.writeBooleanField("unload_dependents", true);
                json.writeEndObject();
            })) {
                calls.act(path, parameters.bytes(), false);
            }
        }

        private static List<TensorSpec> specs(List<ControlJson.Fields> tensors) {
            List<TensorSpec> specs = new ArrayList<>(tensors.size());
            for (ControlJson.Fields tensor : tensors) {
                specs.add(new TensorSpec(
                        tensor.text("name"), Datatype.of(tensor.text("datatype")), Shape.of(tensor.numbers("shape"))));
            }
            return specs;
        }
    }

    /** A server's health and metadata over HTTP. */
    static final class HttpServerControl implements ServerControl {
        private final ControlCalls calls;

        HttpServerControl(ControlCalls calls) {
            this.calls = calls;
        }

        @Override
        public boolean live() {
            return isHealthy("/v2/health/live", "live");
        }

        @Override
        public boolean ready() {
            return isHealthy("/v2/health/ready", "ready");
        }

        @Override
        public ServerMetadata metadata() {
            return calls.get("/v2", body -> {
                ControlJson.Fields server = ControlJson.object(body);
                return new ServerMetadata(server.text("name"), server.text("version"), server.texts("extensions"));
            });
        }

        private boolean isHealthy(String path, String field) {
            try {
                return calls.getOnce(path, body -> isTrue(body, field));
            } catch (UnreachableException | DeadlineException e) {
                return false;
            } catch (ServerException e) {
                if (e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED) {
                    throw e;
                }
                return false;
            }
        }

        /** The status says it; some servers repeat it, or say otherwise, in a body. */
        static boolean isTrue(MemorySegment body, String field) throws IOException {
            return body.byteSize() == 0 || !ControlJson.object(body).isFalse(field);
        }
    }

    /** Makes these clients for their kind of address. */
    public static final class Provider implements ClientProvider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public boolean isFor(ClientOptions options) {
            return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.HTTP;
        }

        @Override
        public GatunClient connect(ClientOptions options) {
            return new HttpGatunClient(options);
        }
    }
}
