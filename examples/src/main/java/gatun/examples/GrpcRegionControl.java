// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.google.protobuf.ByteString;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferRequest.InferRequestedOutputTensor;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import java.util.Map;

/** Shared memory over gRPC. */
final class GrpcRegionControl implements RegionControl {
    private final GrpcConnection connection;

    GrpcRegionControl(String server) {
        connection = new GrpcConnection(server);
    }

    @Override
    public void register(PictureMemory shared) {
        switch (shared) {
            case SharedPicture object -> {
                SystemSharedMemoryRegisterRequest request = SystemSharedMemoryRegisterRequest.newBuilder()
                        .setName(object.name())
                        .setKey(object.key())
                        .setByteSize(PictureMemory.SIZE)
                        .build();
                connection.call(stub -> stub.systemSharedMemoryRegister(request));
            }
            case CudaPicture gpu -> {
                CudaSharedMemoryRegisterRequest request = CudaSharedMemoryRegisterRequest.newBuilder()
                        .setName(gpu.name())
                        .setRawHandle(ByteString.copyFrom(gpu.handle()))
                        .setDeviceId(gpu.device())
                        .setByteSize(PictureMemory.SIZE)
                        .build();
                connection.call(stub -> stub.cudaSharedMemoryRegister(request));
            }
        }
    }

    @Override
    public void infer(PictureMemory shared) {
        InferInputTensor.Builder input = InferInputTensor.newBuilder()
                .putAllParameters(place(shared, PictureMemory.INPUT_OFFSET, PictureMemory.INPUT_SIZE));
        InferRequestedOutputTensor.Builder output = InferRequestedOutputTensor.newBuilder()
                .putAllParameters(place(shared, PictureMemory.OUTPUT_OFFSET, PictureMemory.OUTPUT_SIZE));
        ModelInferRequest request = GrpcConnection.request(input, output).build();
        connection.call(stub -> stub.modelInfer(request));
    }

    @Override
    public void unregister(PictureMemory shared) {
        switch (shared) {
            case SharedPicture object -> {
                SystemSharedMemoryUnregisterRequest request = SystemSharedMemoryUnregisterRequest.newBuilder()
                        .setName(object.name())
                        .build();
                connection.call(stub -> stub.systemSharedMemoryUnregister(request));
            }
            case CudaPicture gpu -> {
                CudaSharedMemoryUnregisterRequest request = CudaSharedMemoryUnregisterRequest.newBuilder()
                        .setName(gpu.name())
                        .build();
                connection.call(stub -> stub.cudaSharedMemoryUnregister(request));
            }
        }
    }

    @Override
    public void close() {
        connection.close();
    }

    private static Map<String, InferParameter> place(PictureMemory shared, long offset, long size) {
        return Map.of(
                "shared_memory_region",
                InferParameter.newBuilder().setStringParam(shared.name()).build(),
                "shared_memory_offset",
                InferParameter.newBuilder().setInt64Param(offset).build(),
                "shared_memory_byte_size",
                InferParameter.newBuilder().setInt64Param(size).build());
    }
}
