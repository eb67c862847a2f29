// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import com.google.protobuf.ByteString;
import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.CudaRegion;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.RegionControl;
import gatun.client.ServerAddress;
import gatun.client.ServerControl;
import gatun.client.ServerException;
import gatun.client.ServerMetadata;
import gatun.client.StatusCode;
import gatun.client.StreamReceiver;
import gatun.client.SystemRegion;
import gatun.client.UnreachableException;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Deadline;
import gatun.client.calls.SingleServerClient;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.ServerMetadataResponse;
import gatun.wire.inference.ServerReadyRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** The client over gRPC. */
public final class GrpcGatunClient implements SingleServerClient {
    private final ClientOptions options;
    private final GrpcChannel channel;
    private final UnaryCalls calls;
    private final ServerControl server;
    private final ModelControl models;
    private final RegionControl regions;

    /** A client with these options. Connects with the first call. */
    public GrpcGatunClient(ClientOptions options) {
        this.options = options;
        this.channel = GrpcChannel.open(options);
        this.calls = new UnaryCalls(channel.channel(), options);
        this.server = new GrpcServerControl(calls);
        this.models = new GrpcModelControl(calls);
        this.regions = new GrpcRegionControl(calls);
    }

    @Override
    public InferResponse infer(InferRequest request) {
        return infer(request, Deadline.of(request.deadline().isPresent() ? request.deadline() : options.deadline()));
    }

    @Override
    public InferResponse infer(InferRequest request, Deadline deadline) {
        InferRequestMessage message = InferRequestMessage.of(request);
        try (InferResponseMessage response = calls.call(
                message.isOfOneThread() ? InferMethods.INFER_WHEN_CONNECTED : InferMethods.INFER,
                message,
                deadline,
                !request.isOfSequence(),
                () -> "an inference of model '" + request.model() + "'")) {
            return response.toResponse(message.head(response.head(), response.headSize()), message::wantsInRegion);
        }
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        calls.requireOpen();
        return AsyncCall.start(() -> infer(request), "gatun-infer");
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        calls.requireOpen();
        return GrpcInferStream.open(channel.channel(), receiver, address());
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

    @Override
    public String address() {
        return options.server().toString();
    }

    @Override
    public void close() {
        calls.close();
        channel.close();
    }

    @Override
    public String toString() {
        return "client of " + address();
    }

    /** A server's health and metadata over gRPC. */
    static final class GrpcServerControl implements ServerControl {
        private final UnaryCalls calls;

        GrpcServerControl(UnaryCalls calls) {
            this.calls = calls;
        }

        @Override
        public boolean live() {
            return answers(() -> calls.call(
                            GRPCInferenceServiceGrpc.getServerLiveMethod(),
                            ServerLiveRequest.getDefaultInstance(),
                            "whether the server is live")
                    .getLive());
        }

        @Override
        public boolean ready() {
            return answers(() -> calls.call(
                            GRPCInferenceServiceGrpc.getServerReadyMethod(),
                            ServerReadyRequest.getDefaultInstance(),
                            "whether the server is ready")
                    .getReady());
        }

        @Override
        public ServerMetadata metadata() {
            ServerMetadataResponse said = calls.call(
                    GRPCInferenceServiceGrpc.getServerMetadataMethod(),
                    ServerMetadataRequest.getDefaultInstance(),
                    "the metadata");
            return new ServerMetadata(said.getName(), said.getVersion(), said.getExtensionsList());
        }

        /** A server that stops, or is not there, is neither live nor ready. */
        private static boolean answers(BooleanSupplier question) {
            try {
                return question.getAsBoolean();
            } catch (UnreachableException | DeadlineException e) {
                return false;
            } catch (ServerException e) {
                if (e.code() == StatusCode.UNAVAILABLE) {
                    return false;
                }
                throw e;
            }
        }
    }

    /** Regions of shared memory over gRPC. */
    static final class GrpcRegionControl implements RegionControl {
        private final UnaryCalls calls;

        GrpcRegionControl(UnaryCalls calls) {
            this.calls = calls;
        }

        @Override
        public void register(String name, String key, long offset, long byteSize) {
            once(
                    GRPCInferenceServiceGrpc.getSystemSharedMemoryRegisterMethod(),
                    SystemSharedMemoryRegisterRequest.newBuilder()
                            .setName(requireName(name))
                            .setKey(key)
                            .setOffset(offset)
                            .setByteSize(byteSize)
                            .build(),
                    name);
        }

        @Override
        public void registerCuda(String name, byte[] handle, int device, long byteSize) {
            once(
                    GRPCInferenceServiceGrpc.getCudaSharedMemoryRegisterMethod(),
                    CudaSharedMemoryRegisterRequest.newBuilder()
                            .setName(requireName(name))
                            .setRawHandle(ByteString.copyFrom(handle))
                            .setDeviceId(device)
                            .setByteSize(byteSize)
                            .build(),
                    name);
        }

        @Override
        public void unregister(String name) {
            forget(requireName(name));
        }

        @Override
        public void unregisterCuda(String name) {
            forgetCuda(requireName(name));
        }

        @Override
        public void unregisterAll() {
            forget("");
        }

        @Override
        public void unregisterAllCuda() {
            forgetCuda("");
        }

        @Override
        public List<SystemRegion> regions() {
            return calls
                    .call(
                            GRPCInferenceServiceGrpc.getSystemSharedMemoryStatusMethod(),
                            SystemSharedMemoryStatusRequest.getDefaultInstance(),
                            "the regions")
                    .getRegionsMap()
                    .values()
                    .stream()
                    .map(region -> new SystemRegion(
                            region.getName(), region.getKey(), region.getOffset(), region.getByteSize()))
                    .toList();
        }

        @Override
        public List<CudaRegion> cudaRegions() {
            return calls
                    .call(
                            GRPCInferenceServiceGrpc.getCudaSharedMemoryStatusMethod(),
                            CudaSharedMemoryStatusRequest.getDefaultInstance(),
                            "the regions of GPUs")
                    .getRegionsMap()
                    .values()
                    .stream()
                    .map(region -> new CudaRegion(region.getName(), region.getDeviceId(), region.getByteSize()))
                    .toList();
        }

        private void forget(String name) {
            Object ignored = calls.call(
                    GRPCInferenceServiceGrpc.getSystemSharedMemoryUnregisterMethod(),
                    SystemSharedMemoryUnregisterRequest.newBuilder()
                            .setName(name)
                            .build(),
                    "forgetting region '" + name + "'");
        }

        private void forgetCuda(String name) {
            Object ignored = calls.call(
                    GRPCInferenceServiceGrpc.getCudaSharedMemoryUnregisterMethod(),
                    CudaSharedMemoryUnregisterRequest.newBuilder().setName(name).build(),
                    "forgetting region '" + name + "' of a GPU");
        }

        private <Q, A> void once(MethodDescriptor<Q, A> method, Q request, String name) {
            A ignored = calls.call(method, request, calls.deadline(), false, () -> "registering region '" + name + "'");
        }

        /** Servers take an empty name for all. */
        private static String requireName(String name) {
            return Optional.of(name)
                    .filter(given -> !given.isEmpty())
                    .orElseThrow(() -> new IllegalArgumentException(
                            "the region's name is empty: expected a name, or unregisterAll() for all regions"));
        }
    }

    /** Makes these clients for their kind of address. */
    public static final class Provider implements ClientProvider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public boolean isFor(ClientOptions options) {
            return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.GRPC;
        }

        @Override
        public GatunClient connect(ClientOptions options) {
            return new GrpcGatunClient(options);
        }
    }
}
