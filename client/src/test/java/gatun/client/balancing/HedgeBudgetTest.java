// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HedgeBudgetTest {
    private final HedgeBudget budget = new HedgeBudget();

    @Test
    void shouldLetATenthBeHedged() {
        assertThat(hedgedOf(1000)).isBetween(105, 110);
    }

    @Test
    void shouldSaveUpForNoMoreThanTen() {
        for (int i = 0; i < 1000; i++) {
            budget.earn();
        }
        int hedged = 0;
        while (budget.spend()) {
            hedged++;
        }
        assertThat(hedged).isEqualTo(10);
    }

    private int hedgedOf(int requests) {
        int hedged = 0;
        for (int i = 0; i < requests; i++) {
            budget.earn();
            if (budget.spend()) {
                hedged++;
            }
        }
        return hedged;
    }
}
