package gatun.examples;

import gatun.protocol.inference.InferParameter;
import gatun.protocol.inference.ModelInferRequest;
import gatun.protocol.inference.ModelInferRequest.InferInputTensor;
import gatun.protocol.inference.ModelInferRequest.InferRequestedOutputTensor;
import gatun.protocol.inference.SystemSharedMemoryRegisterRequest;
import gatun.protocol.inference.SystemSharedMemoryUnregisterRequest;
import java.util.Map;

/** Shared memory over gRPC. */
final class GrpcRegionControl implements RegionControl {
    private final GrpcConnection connection;

    GrpcRegionControl(String server) {
        connection = new GrpcConnection(server);
    }

    @Override
    public void register(SharedPicture shared) {
        SystemSharedMemoryRegisterRequest request = SystemSharedMemoryRegisterRequest.newBuilder()
                .setName(shared.name())
                .setKey(shared.key())
                .setByteSize(SharedPicture.SIZE)
                .build();
        connection.call(stub -> stub.systemSharedMemoryRegister(request));
    }

    @Override
    public void infer(SharedPicture shared) {
        InferInputTensor.Builder input = InferInputTensor.newBuilder()
                .putAllParameters(place(shared, SharedPicture.INPUT_OFFSET, SharedPicture.INPUT_SIZE));
        InferRequestedOutputTensor.Builder output = InferRequestedOutputTensor.newBuilder()
                .putAllParameters(place(shared, SharedPicture.OUTPUT_OFFSET, SharedPicture.OUTPUT_SIZE));
        ModelInferRequest request = GrpcConnection.request(input, output).build();
        connection.call(stub -> stub.modelInfer(request));
    }

    @Override
    public void unregister(SharedPicture shared) {
        SystemSharedMemoryUnregisterRequest request = SystemSharedMemoryUnregisterRequest.newBuilder()
                .setName(shared.name())
                .build();
        connection.call(stub -> stub.systemSharedMemoryUnregister(request));
    }

    @Override
    public void close() {
        connection.close();
    }

    private static Map<String, InferParameter> place(SharedPicture shared, long offset, long size) {
        return Map.of(
                "shared_memory_region",
                InferParameter.newBuilder().setStringParam(shared.name()).build(),
                "shared_memory_offset",
                InferParameter.newBuilder().setInt64Param(offset).build(),
                "shared_memory_byte_size",
                InferParameter.newBuilder().setInt64Param(size).build());
    }
}
