// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ModelIdentifier;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The order in which models go, and circles among them. */
class DependencyOrderTest {
    private static final ModelIdentifier OUTER = new ModelIdentifier("/a", "outer");
    private static final ModelIdentifier INNER = new ModelIdentifier("/b", "inner");
    private static final ModelIdentifier SAME_NAME = new ModelIdentifier("/a", "inner");

    @Test
    void shouldCloseModelsBeforeThoseThatTheyAsk() {
        assertThat(DependencyOrder.closing(Map.of(OUTER, Set.of(INNER), INNER, Set.of(), SAME_NAME, Set.of(OUTER))))
                .containsExactly(List.of(SAME_NAME), List.of(OUTER), List.of(INNER));
    }

    @Test
    void shouldCloseACircleAtOnce() {
        assertThat(DependencyOrder.closing(Map.of(OUTER, Set.of(INNER), INNER, Set.of(OUTER))))
                .containsExactly(List.of(INNER, OUTER));
    }

    @Test
    void shouldFindACircleByIdentityAndNotByName() {
        Map<ModelIdentifier, List<ModelIdentifier>> needs =
                Map.of(OUTER, List.of(INNER), INNER, List.of(SAME_NAME), SAME_NAME, List.of());
        assertThat(DependencyOrder.circle(OUTER, model -> needs.getOrDefault(model, List.of())))
                .isEmpty();
        assertThat(DependencyOrder.circle(OUTER, model -> List.of(OUTER))).containsExactly(OUTER, OUTER);
    }
}
