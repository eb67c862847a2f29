// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.nvml.nvmlMemory_st;
import gatun.bindings.nvml.nvmlUtilization_st;
import gatun.bindings.nvml.nvml_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * NVIDIA's management library, which comes with the driver: how busy GPUs are. A machine without it is a normal one. A
 * value that a GPU does not report is empty, for instance the power of a GPU passed through to a virtual machine. Safe
 * for any thread.
 */
public final class Nvml {
    private static final String LIBRARY = "libnvidia-ml.so.1";

    private static final List<String> FUNCTIONS = List.of(
            "nvmlInit_v2",
            "nvmlErrorString",
            "nvmlDeviceGetCount_v2",
            "nvmlDeviceGetHandleByIndex_v2",
            "nvmlDeviceGetUUID",
            "nvmlDeviceGetUtilizationRates",
            "nvmlDeviceGetMemoryInfo",
            "nvmlDeviceGetPowerUsage",
            "nvmlDeviceGetEnforcedPowerLimit",
            "nvmlDeviceGetTotalEnergyConsumption");

    private static final double PERCENT = 100;
    private static final double THOUSANDTHS = 1000;

    private Nvml() {}

    /** The memory of a GPU; {@code usedBytes} is the part that processes or the driver use. */
    public record Memory(long totalBytes, long usedBytes) {}

    /** The library: available when it is installed, has all functions that Gatun calls, and has found the driver. */
    public static NativeLibrary library() {
        return Holder.FOUND;
    }

    private static final class Holder {
        static final NativeLibrary FOUND = initialised(NativeLibrary.find("NVML", LIBRARY, FUNCTIONS));

        private static NativeLibrary initialised(NativeLibrary library) {
            if (library instanceof NativeLibrary.Missing) {
                return library;
            }
            int result = nvml_h.nvmlInit_v2();
            return result == nvml_h.NVML_SUCCESS()
                    ? library
                    : new NativeLibrary.Missing(
                            library.name(), "nvmlInit: " + NativeMemory.string(nvml_h.nvmlErrorString(result)));
        }
    }

    /** How many GPUs there are; 0 where the {@link #library} is not available. */
    public static int deviceCount() {
        if (library() instanceof NativeLibrary.Missing) {
            return 0;
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment count = scratch.allocate(ValueLayout.JAVA_INT);
            return succeeded(nvml_h.nvmlDeviceGetCount_v2(count)) ? count.get(ValueLayout.JAVA_INT, 0) : 0;
        }
    }

    /** The GPU of an index below {@link #deviceCount}, or empty when it cannot be asked. */
    public static Optional<Device> device(int index) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment handle = scratch.allocate(ValueLayout.ADDRESS);
            return succeeded(nvml_h.nvmlDeviceGetHandleByIndex_v2(index, handle))
                    ? Optional.of(new Device(handle.get(ValueLayout.ADDRESS, 0)))
                    : Optional.empty();
        }
    }

    /** A GPU, which stays as long as the process. */
    public static final class Device {
        private final MemorySegment handle;

        private Device(MemorySegment handle) {
            this.handle = handle;
        }

        /** The unique identifier of the GPU: {@code GPU-} and hexadecimal digits. */
        public Optional<String> uuid() {
            int byteSize = nvml_h.NVML_DEVICE_UUID_V2_BUFFER_SIZE();
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment uuid = scratch.allocate(byteSize);
                return succeeded(nvml_h.nvmlDeviceGetUUID(handle, uuid, byteSize))
                        ? Optional.of(uuid.getString(0))
                        : Optional.empty();
            }
        }

        /** The share of the last sample period, 0 to 1, in which a kernel ran. */
        public OptionalDouble utilization() {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment rates = nvmlUtilization_st.allocate(scratch);
                return succeeded(nvml_h.nvmlDeviceGetUtilizationRates(handle, rates))
                        ? OptionalDouble.of(nvmlUtilization_st.gpu(rates) / PERCENT)
                        : OptionalDouble.empty();
            }
        }

        /** The GPU's memory. */
        public Optional<Memory> memory() {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment memory = nvmlMemory_st.allocate(scratch);
                return succeeded(nvml_h.nvmlDeviceGetMemoryInfo(handle, memory))
                        ? Optional.of(new Memory(nvmlMemory_st.total(memory), nvmlMemory_st.used(memory)))
                        : Optional.empty();
            }
        }

        /** The power that the GPU draws, in watts. */
        public OptionalDouble powerWatts() {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment power = scratch.allocate(ValueLayout.JAVA_INT);
                return watts(nvml_h.nvmlDeviceGetPowerUsage(handle, power), power);
            }
        }

        /** The power that the GPU may draw, in watts. */
        public OptionalDouble powerLimitWatts() {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment limit = scratch.allocate(ValueLayout.JAVA_INT);
                return watts(nvml_h.nvmlDeviceGetEnforcedPowerLimit(handle, limit), limit);
            }
        }

        /** The energy that the GPU has used since the driver was loaded, in millijoules. */
        public OptionalLong energyMillijoules() {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment energy = scratch.allocate(ValueLayout.JAVA_LONG);
                return succeeded(nvml_h.nvmlDeviceGetTotalEnergyConsumption(handle, energy))
                        ? OptionalLong.of(energy.get(ValueLayout.JAVA_LONG, 0))
                        : OptionalLong.empty();
            }
        }

        private static OptionalDouble watts(int result, MemorySegment milliwatts) {
            return succeeded(result)
                    ? OptionalDouble.of(Integer.toUnsignedLong(milliwatts.get(ValueLayout.JAVA_INT, 0)) / THOUSANDTHS)
                    : OptionalDouble.empty();
        }
    }

    private static boolean succeeded(int result) {
        return result == nvml_h.NVML_SUCCESS();
    }
}
