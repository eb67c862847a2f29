// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RequestUsageTest {
    private final HeapBudget heap = new HeapBudget(1 << 20);
    private final RequestUsage usage = new RequestUsage(new RequestLimits(100, 400, 3, 2, 1000), heap);

    @Test
    void shouldReserveNothingForASmallRequest() {
        usage.addText(100);
        usage.addTensor(1, "inputs");
        usage.addParameter();

        assertThat(usage.holdsHeap()).isFalse();
        assertThat(heap.usedBytes()).isZero();
    }

    @Test
    void shouldCountTextsThatAreEmptyToo() {
        for (int i = 0; i < 400 / RequestUsage.TEXT_BYTE_SIZE; i++) {
            usage.addText(0);
        }

        assertRefused(() -> usage.addText(0), "limit-texts-byte-size");
    }

    @Test
    void shouldRefuseWhatIsMoreThanTheLimits() {
        usage.addParameter();
        usage.addParameter();
        assertRefused(usage::addParameter, "limit-parameters");
        usage.addTensor(3, "outputs");
        assertRefused(() -> usage.addTensor(4, "outputs"), "the request has 4 outputs or more");
        for (int i = 0; i < 48; i++) {
            usage.addDimension();
        }
        assertRefused(usage::addDimension, "limit-tensors");
    }

    @Test
    void shouldReserveHeapForWhatIsLongAndGiveItBack() {
        usage.take(100_000);
        assertThat(usage.holdsHeap()).isTrue();
        assertThat(heap.usedBytes()).isGreaterThanOrEqualTo(100_000);
        usage.take(200_000);
        assertThat(heap.usedBytes()).isGreaterThanOrEqualTo(300_000);

        assertRefused(() -> usage.take(1 << 20), "limit-heap-byte-size");
        usage.close();
        usage.close();

        assertThat(heap.usedBytes()).isZero();
    }

    private static void assertRefused(ThrowingCallable counted, String reason) {
        assertThatThrownBy(counted)
                .hasMessageContaining(reason)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED));
    }
}
