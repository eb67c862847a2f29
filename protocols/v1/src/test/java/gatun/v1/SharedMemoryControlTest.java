// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.access.PeerLocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared memory that the operator does not allow. */
class SharedMemoryControlTest {
    private final BufferPool pool = new BufferPool(1 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);
    private final SharedMemoryControl control =
            new SharedMemoryControl(new ClientRegions(regions, ClientRegions.Rules.STANDARD));

    @AfterEach
    void close() {
        regions.close();
        pool.close();
    }

    enum Call {
        REGISTER {
            @Override
            void make(SharedMemoryControl control) {
                control.registerSystem(PeerLocation.THIS_MACHINE, "r", "/r", 0, 1);
            }
        },
        REGISTER_CUDA {
            @Override
            void make(SharedMemoryControl control) {
                control.registerCuda(PeerLocation.THIS_MACHINE, "r", new byte[64], 0, 1);
            }
        },
        UNREGISTER {
            @Override
            void make(SharedMemoryControl control) {
                control.unregister(PeerLocation.THIS_MACHINE, "r");
            }
        },
        UNREGISTER_ALL {
            @Override
            void make(SharedMemoryControl control) {
                control.unregisterAll(PeerLocation.THIS_MACHINE);
            }
        };

        abstract void make(SharedMemoryControl control);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatTheOperatorDoesNotAllow(Call call) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> call.make(control))
                .withMessage(
                        "Client shared memory is disabled. Start the server with 'allow-client-shm=true' to enable.")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
    }

    @Test
    void shouldListNothingThen() {
        assertThat(control.regions(PeerLocation.THIS_MACHINE)).isEmpty();
    }
}
