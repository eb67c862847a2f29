// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.execution.RequestSubmitter.QueueRules;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelQueuePolicy;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QueueRulesTest {
    private static QueueRules rules(ModelDynamicBatching.Builder batching) {
        ModelConfig config =
                ModelConfig.newBuilder().setDynamicBatching(batching).build();
        return QueueRules.of(config, 10, null, false);
    }

    @Test
    void shouldLetARequestNameAnyOfTheLevels() {
        QueueRules rules =
                rules(ModelDynamicBatching.newBuilder().setPriorityLevels(-1).setDefaultPriorityLevel(4_294_967_295L));

        assertThat(rules.level(1)).isEqualTo(1);
        assertThat(rules.level(-1)).as("2^64 - 1").isEqualTo(-1);
        assertThat(rules.level(0)).as("names none").isEqualTo(4_294_967_295L);
    }

    @Test
    void shouldTakeTheDefaultLevelForOneThatThereIsNot() {
        QueueRules rules =
                rules(ModelDynamicBatching.newBuilder().setPriorityLevels(3).setDefaultPriorityLevel(2));

        assertThat(rules.level(3)).isEqualTo(3);
        assertThat(rules.level(4)).isEqualTo(2);
        assertThat(rules.level(-1)).isEqualTo(2);
    }

    @Test
    void shouldHaveOneLevelWhereTheConfigurationHasNone() {
        QueueRules rules = rules(ModelDynamicBatching.newBuilder()
                .setDefaultPriorityLevel(5)
                .putPriorityQueuePolicy(
                        0, ModelQueuePolicy.newBuilder().setMaxQueueSize(3).build()));

        assertThat(rules.level(0)).isZero();
        assertThat(rules.level(5)).isZero();
        assertThat(rules.policy().capacities()).isEqualTo(QueueCapacities.all(10));
    }

    @Test
    void shouldLetAQueuePolicyRuleItsOwnLevel() {
        QueueRules rules = rules(ModelDynamicBatching.newBuilder()
                .setPriorityLevels(-1)
                .setDefaultPriorityLevel(1)
                .putPriorityQueuePolicy(
                        -1, ModelQueuePolicy.newBuilder().setMaxQueueSize(3).build()));

        assertThat(rules.policy().capacities()).isEqualTo(new QueueCapacities(10, Map.of(-1L, 3)));
    }

    @Test
    void shouldKeepTheOrderThatAConfigurationAsksFor() {
        assertThat(rules(ModelDynamicBatching.newBuilder().setPreserveOrdering(true))
                        .policy()
                        .preserveOrdering())
                .isTrue();
        assertThat(rules(ModelDynamicBatching.newBuilder()).policy().preserveOrdering())
                .isFalse();
    }

    @Test
    void shouldLetARequestShortenTheLongestTimeout() {
        QueueRules.Level level = QueueRules.Level.of(ModelQueuePolicy.newBuilder()
                .setDefaultTimeoutMicroseconds(-1)
                .setAllowTimeoutOverride(true)
                .build());

        assertThat(level.deadlineNanos(1000)).isNotZero();
        assertThat(level.deadlineNanos(0)).as("never").isZero();
    }
}
