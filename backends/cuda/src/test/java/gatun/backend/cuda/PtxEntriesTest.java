// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PtxEntriesTest {
    @Test
    void shouldReadWhatTheCompilerWrites() throws IOException {
        PtxEntries entries =
                new PtxEntries(new String(ServedKernels.exampleFile("simple_gpu"), StandardCharsets.UTF_8));

        assertThat(entries.names()).containsExactly("vector_add_sub");
        assertThat(entries.parameterByteSizes("vector_add_sub")).containsExactly(8, 8, 8, 8, 4);
    }

    @Test
    void shouldReadEveryFormOfParameters() {
        PtxEntries entries = new PtxEntries("""
                .version 8.0
                // .visible .entry not_this( .param .u64 x )
                /* nor .entry that( .param .u64 x ) */
                .func (.param .b32 result) helper (.param .b32 x) { ret; }
                .weak .entry _Z3f$1PKf(
                    .param .u64 .ptr .global .align 4 _Z3f_param_0,
                    .param .f32 _Z3f_param_1, // .param .f64 none
                    .param .u16 b16,
                    .param .align 8 .b8 _Z3f_param_3[24], .param .u8 last) .maxntid 128, 1, 1
                { ret; }
                .entry nothing () { ret; }
                .entry bare
                { ret; }
                """);

        assertThat(entries.names()).containsExactly("_Z3f$1PKf", "nothing", "bare");
        assertThat(entries.parameterByteSizes("_Z3f$1PKf")).containsExactly(8, 4, 2, 24, 1);
        assertThat(entries.parameterByteSizes("nothing")).isEmpty();
        assertThat(entries.parameterByteSizes("bare")).isEmpty();
    }
}
