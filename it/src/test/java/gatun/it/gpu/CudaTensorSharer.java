// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The main class of a client in a process of its own that shares tensors in the memory of a GPU, and checks what comes.
 */
public final class CudaTensorSharer {
    private CudaTensorSharer() {}

    /** The server's address. */
    public static void main(String[] arguments) {
        try (GatunClient client = GatunClient.connect(arguments[0])) {
            try (SharedTensors tensors = SharedTensors.cuda(client, "simple", 0).open()) {
                numbers(tensors);
                assertThat(client.regions().cudaRegions()).hasSize(1);
            }
            try (SharedTensors tensors = SharedTensors.cuda(client, "simple_string", 0)
                    .inputBytes("INPUT0", 500, 1, 16)
                    .inputBytes("INPUT1", 500, 1, 16)
                    .outputBytes("OUTPUT0", 500)
                    .open()) {
                strings(tensors);
            }
            assertThat(client.regions().cudaRegions()).isEmpty();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> SharedTensors.cuda(client, "simple", 99).open())
                    .withMessageContaining("GPU 99 was asked for: expected 0 to ");
        }
        System.out.println("all is well");
    }

    private static void numbers(SharedTensors tensors) {
        tensors.set("INPUT0", SimpleModel.LEFT);
        try (Arena arena = Arena.ofConfined()) {
            tensors.write("INPUT1", arena.allocateFrom(ValueLayout.JAVA_INT, SimpleModel.RIGHT));
            for (int i = 0; i < 3; i++) {
                tensors.infer();
                assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            }
            MemorySegment difference = arena.allocate(64);
            tensors.read("OUTPUT1", difference);
            assertThat(difference.toArray(ValueLayout.JAVA_INT)).isEqualTo(SimpleModel.DIFFERENCE);
        }
        DeviceMemory input = tensors.inputOnGpu("INPUT1");
        assertThat(input.byteSize()).isEqualTo(64);
        assertThat(input.address() % 64).isZero();
        assertThat(tensors.outputOnGpu("OUTPUT0").device()).isZero();
        assertThatIllegalStateException()
                .isThrownBy(() -> tensors.input("INPUT0"))
                .withMessageContaining("lie on GPU 0, which the processor cannot reach: use set()");
        assertThatIllegalStateException().isThrownBy(() -> tensors.output("OUTPUT0"));
    }

    private static void strings(SharedTensors tensors) {
        String[] left = new String[16];
        Arrays.fill(left, "40");
        String[] right = new String[16];
        Arrays.fill(right, "2");
        tensors.set("INPUT0", left);
        tensors.set("INPUT1", right);
        tensors.infer();
        assertThat(tensors.strings("OUTPUT0")).hasSize(16).containsOnly("42");
    }
}
