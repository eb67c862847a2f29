// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static gatun.bindings.StandInDevice.require;
import static gatun.bindings.cuda.cuda_h.*;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import gatun.bindings.StandInDevice.Result;
import gatun.testing.CudaStandIn.Count;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Modules, launches, errors that stick, and failures on demand. */
@Timeout(60)
class CudaStandInKernelTest {
    private static final String INVALID_VALUE = "CUDA_ERROR_INVALID_VALUE";
    private static final String INVALID_HANDLE = "CUDA_ERROR_INVALID_HANDLE";
    private static final String PTX = """
            // .entry in_a_comment
            .version 8.0
            .target sm_75
            .address_size 64
            .visible .entry vector_add_sub(.param .u64 a) { ret; }
            .visible .entry fault(.param .u64 a) { ret; }
            .visible .entry somebody_elses() { ret; }
            """;

    private StandInDevice device;
    private MemorySegment module;

    @BeforeEach
    void open() {
        device = StandInDevice.open(0);
        module = device.module(PTX);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.standIn.reset();
            require(cuModuleUnload(module));
            device.close();
        }
    }

    private MemorySegment addresses(long... parameters) {
        MemorySegment values = device.arena.allocateFrom(C_LONG, parameters);
        MemorySegment list = device.arena.allocate(C_POINTER, parameters.length);
        for (int i = 0; i < parameters.length; i++) {
            list.setAtIndex(C_POINTER, i, values.asSlice((long) i * Long.BYTES));
        }
        return list;
    }

    private static int launch(MemorySegment function, int grid, int block, MemorySegment parameters) {
        return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, MemorySegment.NULL, parameters, MemorySegment.NULL);
    }

    @Test
    void shouldRunAKernelThatItKnows() {
        long a = device.allocateInts(10, 20, 30, 40);
        long b = device.allocateInts(1, 2, 3, 4);
        long sum = device.allocateInts(0, 0, 0, 0);
        long difference = device.allocateInts(0, 0, 0, 0);
        MemorySegment kernel = device.function(module, "vector_add_sub");
        require(launch(kernel, 1, 32, addresses(a, b, sum, difference, 4)));
        assertThat(device.ints(sum, 4)).containsExactly(11, 22, 33, 44);
        assertThat(device.ints(difference, 4)).containsExactly(9, 18, 27, 36);

        require(cuMemsetD8_v2(sum, (byte) 0, 16));
        require(launch(kernel, 1, 2, addresses(a, b, sum, difference, 4)));
        assertThat(device.ints(sum, 4)).as("a grid of two threads only").containsExactly(11, 22, 0, 0);
        for (long address : new long[] {a, b, sum, difference}) {
            require(cuMemFree_v2(address));
        }
    }

    @Test
    void shouldTakeArgumentsFromABufferToo() {
        long a = device.allocateInts(10, 20);
        MemorySegment kernel = device.function(module, "vector_add_sub");
        MemorySegment buffer = device.arena.allocateFrom(C_LONG, a, a, a, a, 2);
        MemorySegment extra = device.arena.allocate(C_POINTER, 5);
        extra.setAtIndex(C_LONG, 0, 1);
        extra.setAtIndex(C_POINTER, 1, buffer);
        extra.setAtIndex(C_LONG, 2, 2);
        extra.setAtIndex(C_POINTER, 3, device.arena.allocateFrom(C_LONG, 36));
        require(cuLaunchKernel(kernel, 1, 1, 1, 2, 1, 1, 0, MemorySegment.NULL, MemorySegment.NULL, extra));
        assertThat(device.ints(a, 2)).as("the difference is written last").containsExactly(20 - 20 - 0, 0);
        extra.setAtIndex(C_POINTER, 3, device.arena.allocateFrom(C_LONG, 35));
        assertThat(Result.of(
                        cuLaunchKernel(kernel, 1, 1, 1, 2, 1, 1, 0, MemorySegment.NULL, MemorySegment.NULL, extra)))
                .isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(a));
    }

    @Test
    void shouldRefuseALaunchThatNoDeviceCouldDo() {
        long a = device.allocateInts(1);
        MemorySegment kernel = device.function(module, "vector_add_sub");
        MemorySegment good = addresses(a, a, a, a, 1);
        assertThat(Result.of(launch(kernel, 0, 32, good))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(launch(kernel, 1, 1025, good))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(launch(kernel, -1, 32, good))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(
                        cuLaunchKernel(kernel, 1, 1, 1, 32, 33, 1, 0, MemorySegment.NULL, good, MemorySegment.NULL)))
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuLaunchKernel(
                        kernel, 1, 70_000, 1, 32, 1, 1, 0, MemorySegment.NULL, good, MemorySegment.NULL)))
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuLaunchKernel(
                        kernel, 1, 1, 1, 32, 1, 1, 50_000, MemorySegment.NULL, good, MemorySegment.NULL)))
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(launch(kernel, 1, 32, MemorySegment.NULL))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(launch(device.function(module, "somebody_elses"), 1, 1, good)))
                .isEqualTo("CUDA_ERROR_NOT_SUPPORTED");
        try (StandInDevice other = StandInDevice.open(1)) {
            assertThat(Result.of(launch(kernel, 1, 32, good))).isEqualTo(INVALID_HANDLE);
            assertThat(other.standIn.count(Count.LAUNCHES)).isNotNegative();
        }
        require(cuCtxSetCurrent(device.context));
        require(cuMemFree_v2(a));
    }

    @Test
    void shouldFindTheKernelsOfAnImageOnly() {
        MemorySegment out = device.arena.allocate(C_POINTER);
        assertThat(Result.of(cuModuleGetFunction(out, module, device.arena.allocateFrom("in_a_comment"))))
                .isEqualTo("CUDA_ERROR_NOT_FOUND");
        assertThat(Result.of(cuModuleGetFunction(out, module, device.arena.allocateFrom("copy_bytes"))))
                .isEqualTo("CUDA_ERROR_NOT_FOUND");
        require(cuFuncGetAttribute(
                out, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK(), device.function(module, "vector_add_sub")));
        assertThat(out.get(C_INT, 0)).isEqualTo(1024);
        MemorySegment gone = device.module(PTX);
        MemorySegment function = device.function(gone, "fault");
        require(cuModuleUnload(gone));
        assertThat(Result.of(cuModuleUnload(gone))).isEqualTo(INVALID_HANDLE);
        assertThat(Result.of(launch(function, 1, 1, addresses(0)))).isEqualTo(INVALID_HANDLE);
    }

    @Test
    void shouldRefuseWhatIsNoImage() {
        assertThat(load("")).isEqualTo("CUDA_ERROR_INVALID_IMAGE");
        assertThat(load("rubbish")).isEqualTo("CUDA_ERROR_INVALID_IMAGE");
        assertThat(load(".version 8.0\n.entry a() {}")).isEqualTo("CUDA_ERROR_INVALID_PTX");
        assertThat(load(".version 8.0\n.target sm_75\n.entry a() {")).isEqualTo("CUDA_ERROR_INVALID_PTX");
        assertThat(load(".version 99.0\n.target sm_75\n")).isEqualTo("CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
        byte[] elf = new byte[64];
        System.arraycopy("\u007fELF".getBytes(UTF_8), 0, elf, 0, 4);
        assertThat(Result.of(
                        cuModuleLoadData(device.arena.allocate(C_POINTER), device.arena.allocateFrom(C_CHAR, elf))))
                .isEqualTo("CUDA_ERROR_INVALID_IMAGE");
    }

    @Test
    void shouldFindTheKernelsOfTheExamples() throws Exception {
        requireKernels("models-gpu/simple_gpu/1/model.ptx", "vector_add_sub");
        requireKernels("models-gpu/normalise_transpose/1/model.ptx", "normalise_transpose");
        requireKernels("models-gpu/mlp_gpu/1/model.ptx", "mlp_hidden1", "mlp_hidden2", "mlp_output");
        requireKernels("kernels/probe.ptx", "copy_bytes", "spin_nanoseconds", "fault");
    }

    private void requireKernels(String file, String... names) throws Exception {
        String ptx = Files.readString(Path.of("..", "examples").resolve(file));
        assertThat(Pattern.compile("\\.entry (\\w+)").matcher(ptx).results().map(found -> found.group(1)))
                .containsExactly(names);
        MemorySegment loaded = device.module(ptx);
        for (String name : names) {
            assertThat(device.function(loaded, name)).isNotEqualTo(MemorySegment.NULL);
        }
        require(cuModuleUnload(loaded));
    }

    @Test
    void shouldNormaliseAndTransposePictures() throws Exception {
        MemorySegment loaded =
                device.module(Files.readString(Path.of("..", "examples/models-gpu/normalise_transpose/1/model.ptx")));
        MemorySegment kernel = device.function(loaded, "normalise_transpose");
        // Two pictures of one row with two pixels.
        long image = device.allocateInts(0x33_02_01_00, 0x66_55_44_FF, 0x99_88_77_00);
        long out = device.allocate(12 * Float.BYTES);
        require(launch(kernel, 1, 32, addresses(image, out, 2, 1, 2)));
        MemorySegment floats = device.arena.allocate(C_FLOAT, 12);
        require(cuMemcpyDtoH_v2(floats, out, floats.byteSize()));
        float[] expected = {
            red(0x00), red(0x33), green(0x01), green(0xFF), blue(0x02), blue(0x44),
            red(0x55), red(0x77), green(0x66), green(0x88), blue(0x00), blue(0x99)
        };
        assertThat(floats.toArray(C_FLOAT)).containsExactly(expected, within(1e-5f));
        require(cuMemFree_v2(image));
        require(cuMemFree_v2(out));
        require(cuModuleUnload(loaded));
    }

    private static float red(int value) {
        return (value / 255f - 0.485f) / 0.229f;
    }

    private static float green(int value) {
        return (value / 255f - 0.456f) / 0.224f;
    }

    private static float blue(int value) {
        return (value / 255f - 0.406f) / 0.225f;
    }

    private String load(String text) {
        return Result.of(cuModuleLoadData(device.arena.allocate(C_POINTER), device.arena.allocateFrom(text)));
    }

    @Test
    void shouldKeepTheErrorOfAKernelForTheContext() {
        long a = device.allocateInts(1);
        MemorySegment kernel = device.function(module, "vector_add_sub");
        require(launch(kernel, 1, 32, addresses(a, a + 4, a, a, 1)));
        assertThat(Result.of(cuCtxSynchronize())).isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
        MemorySegment out = device.arena.allocate(C_LONG);
        assertThat(Result.of(cuMemAlloc_v2(out, 4))).isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
        assertThat(Result.of(launch(kernel, 1, 32, addresses(a, a, a, a, 1)))).isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
        assertThat(Result.of(cuMemFree_v2(a)))
                .as("gives the memory back, and says that the device is broken")
                .isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
        require(cuDevicePrimaryCtxRetain(out, 1));
        require(cuCtxSetCurrent(out.get(C_POINTER, 0)));
        require(cuMemAlloc_v2(out, 4)); // the other device works
        require(cuDevicePrimaryCtxRelease_v2(1));
        require(cuCtxSetCurrent(device.context));
    }

    @Test
    void shouldNoticeAnAddressThatIsNotAligned() {
        long a = device.allocateInts(1, 2);
        MemorySegment kernel = device.function(module, "vector_add_sub");
        require(launch(kernel, 1, 32, addresses(a + 2, a, a, a, 1)));
        assertThat(Result.of(cuCtxSynchronize())).isEqualTo("CUDA_ERROR_MISALIGNED_ADDRESS");
        device.standIn.reset();
        require(launch(device.function(module, "fault"), 1, 1, addresses(0)));
        assertThat(Result.of(cuStreamSynchronize(MemorySegment.NULL))).isEqualTo("CUDA_ERROR_ILLEGAL_ADDRESS");
        device.standIn.reset();
        require(cuMemFree_v2(a));
    }

    @Test
    void shouldFailOnDemand() {
        MemorySegment out = device.arena.allocate(C_LONG);
        device.standIn.fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY(), 2);
        long first = device.allocate(4);
        assertThat(Result.of(cuMemAlloc_v2(out, 4))).isEqualTo("CUDA_ERROR_OUT_OF_MEMORY");
        require(cuMemFree_v2(device.allocate(4)));
        device.standIn.fail("cuMemAlloc@1", CUDA_ERROR_LAUNCH_FAILED(), 0);
        require(cuMemFree_v2(device.allocate(4)));
        try (StandInDevice other = StandInDevice.open(1)) {
            assertThat(Result.of(cuMemAlloc_v2(out, 4))).isEqualTo("CUDA_ERROR_LAUNCH_FAILED");
            assertThat(Result.of(cuCtxSynchronize())).as("it sticks").isEqualTo("CUDA_ERROR_LAUNCH_FAILED");
            assertThat(other.ordinal).isOne();
        }
        require(cuCtxSetCurrent(device.context));
        require(cuMemFree_v2(first));
        assertThatThrownBy(() -> device.standIn.fail("cuMemAlocate", CUDA_ERROR_UNKNOWN(), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cuMemAlocate");
    }
}
