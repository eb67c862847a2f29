// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MadeForTest {
    private static final MadeFor OLD = new MadeFor("x86_64", Set.of("avx2", "fma", "sse4_2"));

    @Test
    void shouldTakeWhatTheProcessorCan() {
        OLD.check(Map.of("AOTI_MACHINE", "x86_64", "AOTI_CPU_ISA", "AVX2", "AOTI_DEVICE_KEY", "cpu"), "it");
        OLD.check(Map.of("AOTI_CPU_ISA", "INVALID_VEC_ISA"), "it");
        OLD.check(Map.of(), "it");
        new MadeFor("x86_64", Set.of()).check(Map.of("AOTI_CPU_ISA", "AVX512"), "it");
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
        byte[] head = new byte[20];
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
}
