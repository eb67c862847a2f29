// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import com.google.protobuf.UnknownFieldSet;
import gatun.grpc.calls.CallServices.CallLocation;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.access.PeerLocation;
import gatun.v1.AllStatuses;
import gatun.v1.ControlCounters;
import gatun.v1.SharedMemoryControl;
import gatun.v1.V1Api;
import gatun.wire.v1.GRPCServiceGrpc.GRPCServiceImplBase;
import gatun.wire.v1.HealthRequest;
import gatun.wire.v1.HealthResponse;
import gatun.wire.v1.ModelControlRequest;
import gatun.wire.v1.ModelControlResponse;
import gatun.wire.v1.RepositoryRequest;
import gatun.wire.v1.RepositoryResponse;
import gatun.wire.v1.RequestStatus;
import gatun.wire.v1.SharedMemoryControlRequest;
import gatun.wire.v1.SharedMemoryControlResponse;
import gatun.wire.v1.SharedMemoryRegion;
import gatun.wire.v1.SharedMemoryStatus;
import gatun.wire.v1.StatusRequest;
import gatun.wire.v1.StatusResponse;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls that are no inferences. Safe for any thread. */
final class ControlService extends GRPCServiceImplBase {
    private static final Logger LOG = LoggerFactory.getLogger(ControlService.class);

    private final V1Api api;

    ControlService(V1Api api) {
        this.api = api;
    }

    @Override
    public void status(StatusRequest request, StreamObserver<StatusResponse> responses) {
        StatusResponse.Builder response = StatusResponse.newBuilder();
        String model = request.getModelName();
        try (AllStatuses all = api.serverStatuses().all()) {
            RequestStatus status = run(
                    Optional.of(ControlCounters.Kind.STATUS),
                    () -> response.setServerStatus(
                            model.isEmpty() ? all.read() : api.serverStatuses().of(model)));
            answer(responses, response.setRequestStatus(status).build());
        }
    }

    @Override
    public void health(HealthRequest request, StreamObserver<HealthResponse> responses) {
        HealthResponse.Builder response = HealthResponse.newBuilder();
        RequestStatus status = run(
                Optional.of(ControlCounters.Kind.HEALTH),
                () -> response.setHealth(api.serverStatuses().healthy(request.getMode())));
        answer(responses, response.setRequestStatus(status).build());
    }

    @Override
    public void modelControl(ModelControlRequest request, StreamObserver<ModelControlResponse> responses) {
        RequestStatus status = run(Optional.of(ControlCounters.Kind.MODEL_CONTROL), () -> {
            switch (request.getType()) {
                case LOAD -> api.modelControl().load(request.getModelName());
                case UNLOAD -> api.modelControl().unload(request.getModelName());
                case UNRECOGNIZED ->
                    throw new GatunException(ErrorCode.UNKNOWN, "unknown action type '" + request.getTypeValue() + "'");
            }
        });
        answer(
                responses,
                ModelControlResponse.newBuilder().setRequestStatus(status).build());
    }

    @Override
    public void sharedMemoryControl(
            SharedMemoryControlRequest request, StreamObserver<SharedMemoryControlResponse> responses) {
        SharedMemoryControlResponse.Builder response = SharedMemoryControlResponse.newBuilder();
        SharedMemoryControl regions = api.sharedMemory();
        PeerLocation client = CallLocation.current();
        RequestStatus status = run(Optional.empty(), () -> {
            switch (request.getSharedMemoryControlCase()) {
                case REGISTER -> register(regions, client, request.getRegister());
                case UNREGISTER ->
                    regions.unregister(client, request.getUnregister().getName());
                case UNREGISTER_ALL -> regions.unregisterAll(client);
                case STATUS -> response.setSharedMemoryStatus(status(regions.regions(client)));
                case SHAREDMEMORYCONTROL_NOT_SET ->
                    throw new GatunException(ErrorCode.UNKNOWN, "unknown sharedmemorycontrol request type");
            }
        });
        answer(responses, response.setRequestStatus(status).build());
    }

    /** The regions as the message has them, and as SharedMemoryStatus does, which the last C++ clients read. */
    private static SharedMemoryControlResponse.Status status(List<SharedMemoryRegion> regions) {
        UnknownFieldSet.Field.Builder again = UnknownFieldSet.Field.newBuilder();
        regions.forEach(region -> again.addLengthDelimited(region.toByteString()));
        return SharedMemoryControlResponse.Status.newBuilder()
                .addAllSharedMemoryRegion(regions)
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(SharedMemoryStatus.SHARED_MEMORY_REGION_FIELD_NUMBER, again.build())
                        .build())
                .build();
    }

    private static void register(
            SharedMemoryControl regions, PeerLocation client, SharedMemoryControlRequest.Register request) {
        switch (request.getSharedMemoryTypesCase()) {
            case SYSTEM_SHARED_MEMORY ->
                regions.registerSystem(
                        client,
                        request.getName(),
                        request.getSystemSharedMemory().getSharedMemoryKey(),
                        request.getSystemSharedMemory().getOffset(),
                        request.getByteSize());
            case CUDA_SHARED_MEMORY ->
                regions.registerCuda(
                        client,
                        request.getName(),
                        request.getCudaSharedMemory().getRawHandle().toByteArray(),
                        request.getCudaSharedMemory().getDeviceId(),
                        request.getByteSize());
            case SHAREDMEMORYTYPES_NOT_SET ->
                throw GatunException.invalidArgument("failed to register shared memory region: '" + request.getName()
                        + "', improperly formed request.");
        }
    }

    @Override
    public void repository(RepositoryRequest request, StreamObserver<RepositoryResponse> responses) {
        RepositoryResponse.Builder response = RepositoryResponse.newBuilder();
        RequestStatus status = run(Optional.of(ControlCounters.Kind.REPOSITORY), () -> {
            if (request.getRequestTypeCase() != RepositoryRequest.RequestTypeCase.INDEX) {
                throw new GatunException(ErrorCode.UNKNOWN, "unknown repository request type");
            }
            response.setIndex(api.modelControl().index());
        });
        answer(responses, response.setRequestStatus(status).build());
    }

    private RequestStatus run(Optional<ControlCounters.Kind> kind, Runnable work) {
        long beganNanos = System.nanoTime();
        try {
            work.run();
        } catch (GatunException e) {
            return api.statuses().failure(e);
        } catch (RuntimeException e) {
            // Clients look for errors in the response only.
            LOG.error("a request failed", e);
            return api.statuses().failure(new GatunException(ErrorCode.INTERNAL, "unexpected failure, see the log", e));
        }
        kind.ifPresent(present -> api.counters().answered(present, beganNanos));
        return api.statuses().success();
    }

    private static <A> void answer(StreamObserver<A> responses, A answer) {
        responses.onNext(answer);
        responses.onCompleted();
    }
}
