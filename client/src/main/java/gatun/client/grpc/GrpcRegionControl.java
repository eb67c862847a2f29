// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import com.google.protobuf.ByteString;
import gatun.client.CudaRegion;
import gatun.client.RegionControl;
import gatun.client.SystemRegion;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Optional;

/** Regions of shared memory over gRPC. */
final class GrpcRegionControl implements RegionControl {
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
                .map(region ->
                        new SystemRegion(region.getName(), region.getKey(), region.getOffset(), region.getByteSize()))
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
                SystemSharedMemoryUnregisterRequest.newBuilder().setName(name).build(),
                "forgetting region '" + name + "'");
    }

    private void forgetCuda(String name) {
        Object ignored = calls.call(
                GRPCInferenceServiceGrpc.getCudaSharedMemoryUnregisterMethod(),
                CudaSharedMemoryUnregisterRequest.newBuilder().setName(name).build(),
                "forgetting region '" + name + "' of a GPU");
    }

    /** Registering twice is an error. */
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
