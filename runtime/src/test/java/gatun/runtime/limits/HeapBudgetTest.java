// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import org.junit.jupiter.api.Test;

class HeapBudgetTest {
    private static final long MIB = 1 << 20;

    private final HeapBudget budget = new HeapBudget(4 * MIB);

    @Test
    void shouldRefuseWhatOthersHaveTakenUntilTheyGiveItBack() {
        Hold most = budget.reserve(3 * MIB);

        assertThatThrownBy(() -> budget.reserve(2 * MIB))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        most.close();
        most.close();

        assertThat(budget.usedBytes()).isZero();
        budget.reserve(4 * MIB).close();
    }

    @Test
    void shouldRefuseForGoodWhatIsMoreThanThereIs() {
        assertThatThrownBy(() -> budget.reserve(5 * MIB))
                .hasMessageContaining("limit-heap-byte-size")
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED));
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void shouldNotCountWhatEveryRequestMayMake() {
        budget.reserve(HeapBudget.FREE_BYTE_SIZE);

        assertThat(budget.usedBytes()).isZero();
    }
}
