// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelParameter;
import org.junit.jupiter.api.Test;

class RunThreadsTest {
    private static RunThreads threads(ModelConfig config, int cores) {
        return RunThreads.of(Settings.of(config), config, cores);
    }

    private static ModelConfig instances(int first, int second) {
        return ModelConfig.newBuilder()
                .addInstanceGroup(ModelInstanceGroup.newBuilder().setCount(first))
                .addInstanceGroup(ModelInstanceGroup.newBuilder().setCount(second))
                .build();
    }

    @Test
    void shouldShareTheCores() {
        assertThat(threads(instances(1, 3), 16).count()).isEqualTo(4);
        assertThat(threads(instances(1, 3), 2).count()).isEqualTo(1);
        assertThat(threads(ModelConfig.getDefaultInstance(), 8))
                .isEqualTo(new RunThreads(8, "threads of a run: 8, of 8 cores for 1 instance"));
    }

    @Test
    void shouldDoAsTheModelSays() {
        ModelConfig config = instances(1, 3).toBuilder()
                .putParameters(
                        "cpu_nthread",
                        ModelParameter.newBuilder().setStringValue("5").build())
                .build();
        assertThat(threads(config, 2)).isEqualTo(new RunThreads(5, "threads of a run: 5, as cpu_nthread says"));
    }
}
