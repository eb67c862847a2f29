// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TargetIsaTest {
    private static final TargetIsa OLD = new TargetIsa("x86_64", Set.of("avx2", "fma", "sse4_2"));

    @Test
    void shouldTakeWhatTheProcessorCan() {
        OLD.check(Map.of("AOTI_MACHINE", "x86_64", "AOTI_CPU_ISA", "AVX2", "AOTI_DEVICE_KEY", "cpu"), "it");
        OLD.check(Map.of("AOTI_CPU_ISA", "INVALID_VEC_ISA"), "it");
        OLD.check(Map.of(), "it");
        new TargetIsa("x86_64", Set.of()).check(Map.of("AOTI_CPU_ISA", "AVX512"), "it");
    }

    @Test
    void shouldSayWhatTheProcessorLacks() {
        assertRefused(
                Map.of("AOTI_CPU_ISA", "AVX512 AVX512_VNNI"),
                "was compiled for a processor with AVX512 AVX512_VNNI; this one has no avx512f, avx512dq, avx512vl,"
                        + " avx512bw, avx512_vnni");
        assertRefused(Map.of("AOTI_MACHINE", "aarch64"), "was compiled for aarch64, this machine is x86_64");
        assertRefused(Map.of("AOTI_DEVICE_KEY", "cuda"), "for the device 'cuda'");
        assertRefused(Map.of("AOTI_PLATFORM", "win32"), "was compiled for win32");
    }

    private static void assertRefused(Map<String, String> metadata, String reason) {
        assertThatThrownBy(() -> OLD.check(metadata, "it"))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void shouldLookAtTheLibrary() {
        byte[] head = new byte[64];
        assertThatThrownBy(() -> OLD.check(head, "it")).hasMessageContaining("none for Linux");
        assertThatThrownBy(() -> OLD.check(new byte[3], "it")).hasMessageContaining("none for Linux");
        head[0] = 0x7f;
        head[1] = 'E';
        head[2] = 'L';
        head[3] = 'F';
        head[18] = 62;
        OLD.check(head, "it");
        head[18] = (byte) 183;
        assertThatThrownBy(() -> OLD.check(head, "it")).hasMessageContaining("compiled for aarch64");
    }

    @Test
    void shouldTakeBackTheWishForStacksThatCanBeExecuted() {
        ByteBuffer head = ByteBuffer.allocate(300).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(0, 0x464c457f).putLong(32, 64).putShort(54, (short) 56).putShort(56, (short) 2);
        head.putInt(64, 1).putInt(68, 5); // Code.
        head.putInt(120, 0x6474e551).putInt(124, 7); // Stacks: to be read, written and executed.
        ElfHead.of(head.array()).orElseThrow().keepStacks();
        assertThat(head.getInt(68)).isEqualTo(5);
        assertThat(head.getInt(124)).isEqualTo(6);
        head.putLong(32, Long.MAX_VALUE);
        ElfHead.of(head.array()).orElseThrow().keepStacks();
    }
}
