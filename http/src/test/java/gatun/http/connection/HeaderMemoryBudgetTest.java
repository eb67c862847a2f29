// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.http.connection.FastPathReader.HeaderMemoryBudget;
import io.helidon.http.Status;
import org.junit.jupiter.api.Test;

class HeaderMemoryBudgetTest {
    @Test
    void shouldRefuseWhatOthersHaveTakenUntilTheyGiveItBack() throws Exception {
        HeaderMemoryBudget heads = new HeaderMemoryBudget(100);
        heads.take(60);
        assertThatThrownBy(() -> heads.take(41))
                .isInstanceOfSatisfying(RequestHeadParser.RefusedHead.class, refused -> assertThat(refused.status())
                        .isEqualTo(Status.SERVICE_UNAVAILABLE_503))
                .hasMessageContaining("take the 100 bytes");
        heads.take(40);
        heads.give(60);
        heads.take(41);
    }
}
