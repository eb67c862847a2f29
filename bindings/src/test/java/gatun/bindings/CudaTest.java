// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.cuda.CUipcMemHandle;
import gatun.bindings.cuda.cuda_h;
import gatun.bindings.cudart.cudart_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CudaTest {
    @Test
    void shouldHaveConstantsAndStructsWithoutTheLibrary() {
        assertThat(cuda_h.CUDA_VERSION()).isEqualTo(13000);
        assertThat(cudart_h.CUDART_VERSION()).isEqualTo(13000);
        assertThat(CUipcMemHandle.layout().byteSize()).isEqualTo(cuda_h.CU_IPC_HANDLE_SIZE());
    }

    @Test
    void shouldLookForEveryFunctionOfTheBindings() throws Exception {
        assertThat(Cuda.DRIVER_FUNCTIONS).containsExactlyElementsOf(functionsOf("cuda"));
        assertThat(Cuda.RUNTIME_FUNCTIONS).containsExactlyElementsOf(functionsOf("cudart"));
    }

    @Test
    void shouldSayWhyThereIsNoDriver() {
        assumeThat(Cuda.driver()).as("a machine without CUDA").isInstanceOf(NativeLibrary.Missing.class);
        // Without a driver at all, or with one that finds no device.
        assertThat(Cuda.driver().toString())
                .matches("CUDA not available: (Cannot open library: libcuda\\.so\\.1|cuInit: .+ \\(CUDA_ERROR_.+\\))");
        assertThat(Cuda.driver()).isSameAs(Cuda.driver());
    }

    @Test
    void shouldFindADeviceWhereThereIsADriver() {
        assumeThat(Cuda.driver()).as("CUDA: " + Cuda.driver()).isInstanceOf(NativeLibrary.Available.class);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            assertThat(cuda_h.cuDeviceGetCount(count)).isEqualTo(cuda_h.CUDA_SUCCESS());
            assertThat(count.get(ValueLayout.JAVA_INT, 0)).isPositive();
        }
    }

    @Test
    void shouldCallTheRuntimeLibraryWhereItIsInstalled() {
        assumeThat(Cuda.runtime())
                .as("CUDA's runtime library: " + Cuda.runtime())
                .isInstanceOf(NativeLibrary.Available.class);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
            assertThat(cudart_h.cudaRuntimeGetVersion(version)).isEqualTo(cudart_h.cudaSuccess());
            assertThat(version.get(ValueLayout.JAVA_INT, 0)).isBetween(13_000, 13_999);
        }
    }

    private static List<String> functionsOf(String library) throws Exception {
        String option = "--include-function ";
        return Files.readAllLines(Path.of("..", "native-headers", library, "jextract.args"), UTF_8).stream()
                .filter(line -> line.startsWith(option))
                .map(line -> line.substring(option.length()))
                .toList();
    }
}
