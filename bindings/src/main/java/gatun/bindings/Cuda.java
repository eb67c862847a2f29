// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.cuda.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** CUDA's driver and runtime library, each looked for when first used. Most machines have none. */
public final class Cuda {
    private static final String DRIVER = "libcuda.so.1";
    private static final String RUNTIME = "libcudart.so.13";

    /** Functions of the driver that Gatun calls, as in {@code native-headers/cuda/jextract.args}. */
    static final List<String> DRIVER_FUNCTIONS = List.of(
            "cuCtxEnablePeerAccess",
            "cuCtxGetCurrent",
            "cuCtxGetDevice",
            "cuCtxPopCurrent_v2",
            "cuCtxPushCurrent_v2",
            "cuCtxSetCurrent",
            "cuCtxSynchronize",
            "cuDeviceCanAccessPeer",
            "cuDeviceGet",
            "cuDeviceGetAttribute",
            "cuDeviceGetCount",
            "cuDeviceGetName",
            "cuDeviceGetPCIBusId",
            "cuDeviceGetUuid_v2",
            "cuDevicePrimaryCtxGetState",
            "cuDevicePrimaryCtxRelease_v2",
            "cuDevicePrimaryCtxRetain",
            "cuDevicePrimaryCtxSetFlags_v2",
            "cuDeviceTotalMem_v2",
            "cuDriverGetVersion",
            "cuEventCreate",
            "cuEventDestroy_v2",
            "cuEventElapsedTime_v2",
            "cuEventQuery",
            "cuEventRecord",
            "cuEventSynchronize",
            "cuFuncGetAttribute",
            "cuFuncSetAttribute",
            "cuGetErrorName",
            "cuGetErrorString",
            "cuInit",
            "cuIpcCloseMemHandle",
            "cuIpcGetEventHandle",
            "cuIpcGetMemHandle",
            "cuIpcOpenEventHandle",
            "cuIpcOpenMemHandle_v2",
            "cuLaunchKernel",
            "cuMemAllocAsync",
            "cuMemAllocHost_v2",
            "cuMemAlloc_v2",
            "cuMemFreeAsync",
            "cuMemFreeHost",
            "cuMemFree_v2",
            "cuMemGetAddressRange_v2",
            "cuMemGetInfo_v2",
            "cuMemHostAlloc",
            "cuMemHostGetDevicePointer_v2",
            "cuMemHostRegister_v2",
            "cuMemHostUnregister",
            "cuMemcpyDtoDAsync_v2",
            "cuMemcpyDtoD_v2",
            "cuMemcpyDtoHAsync_v2",
            "cuMemcpyDtoH_v2",
            "cuMemcpyHtoDAsync_v2",
            "cuMemcpyHtoD_v2",
            "cuMemsetD32Async",
            "cuMemsetD8Async",
            "cuMemsetD8_v2",
            "cuModuleGetFunction",
            "cuModuleLoadData",
            "cuModuleLoadDataEx",
            "cuModuleUnload",
            "cuPointerGetAttribute",
            "cuStreamCreate",
            "cuStreamDestroy_v2",
            "cuStreamQuery",
            "cuStreamSynchronize",
            "cuStreamWaitEvent");

    /** Functions of the runtime library that Gatun calls, as in {@code native-headers/cudart/jextract.args}. */
    static final List<String> RUNTIME_FUNCTIONS = List.of(
            "cudaDeviceGetAttribute",
            "cudaDeviceGetPCIBusId",
            "cudaDeviceSynchronize",
            "cudaDriverGetVersion",
            "cudaEventCreateWithFlags",
            "cudaEventDestroy",
            "cudaEventRecord",
            "cudaEventSynchronize",
            "cudaFree",
            "cudaFreeHost",
            "cudaGetDevice",
            "cudaGetDeviceCount",
            "cudaGetErrorName",
            "cudaGetErrorString",
            "cudaGetLastError",
            "cudaHostRegister",
            "cudaHostUnregister",
            "cudaIpcCloseMemHandle",
            "cudaIpcGetMemHandle",
            "cudaIpcOpenMemHandle",
            "cudaMalloc",
            "cudaMallocHost",
            "cudaMemGetInfo",
            "cudaMemcpy",
            "cudaMemcpyAsync",
            "cudaMemsetAsync",
            "cudaPointerGetAttributes",
            "cudaRuntimeGetVersion",
            "cudaSetDevice",
            "cudaStreamCreateWithFlags",
            "cudaStreamDestroy",
            "cudaStreamSynchronize");

    private Cuda() {}

    /** The driver, with all functions and a device. The first call takes up to a second with a GPU. */
    public static NativeLibrary driver() {
        return DriverHolder.FOUND;
    }

    /** The runtime library: version 13 with all functions that Gatun calls. Needs no device. */
    public static NativeLibrary runtime() {
        return RuntimeHolder.FOUND;
    }

    private static final class DriverHolder {
        static final NativeLibrary FOUND = initialised(NativeLibrary.find("CUDA", DRIVER, DRIVER_FUNCTIONS));

        private static NativeLibrary initialised(NativeLibrary library) {
            if (library instanceof NativeLibrary.Missing) {
                return library;
            }
            int result = cuda_h.cuInit(0);
            return result == cuda_h.CUDA_SUCCESS()
                    ? library
                    : new NativeLibrary.Missing(library.name(), "cuInit: " + errorText(result));
        }
    }

    private static final class RuntimeHolder {
        static final NativeLibrary FOUND = NativeLibrary.find("CUDA runtime", RUNTIME, RUNTIME_FUNCTIONS);
    }

    /** A {@code CUresult} as {@code out of memory (CUDA_ERROR_OUT_OF_MEMORY)}. Needs the driver. */
    public static String errorText(int result) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(cuda_h.C_POINTER);
            if (cuda_h.cuGetErrorString(result, out) != cuda_h.CUDA_SUCCESS()) {
                return "error " + result;
            }
            String text = NativeMemory.string(out.get(cuda_h.C_POINTER, 0));
            cuda_h.cuGetErrorName(result, out);
            return text + " (" + NativeMemory.string(out.get(cuda_h.C_POINTER, 0)) + ")";
        }
    }
}
