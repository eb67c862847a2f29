// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.RepositoryControl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Errors for models that do not load or unload. */
class ModelControlTest {
    private final Models models = new Models();
    private final ModelControl control = new ModelControl(models);

    @Test
    void shouldNameTheVersionsThatServeOnAfterAnUnload() {
        models.has("m", "1", ModelState.UNAVAILABLE);
        models.has("m", "2", ModelState.READY);
        models.has("m", "3", ModelState.READY);
        models.has("other", "4", ModelState.READY);
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> control.unload("m"))
                .withMessage("failed to unload 'm', versions that are still available: 2,3")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL));
        assertThat(models.unloaded).containsExactly("m");
    }

    @Test
    void shouldSayNothingOfAModelThatIsGone() {
        models.has("m", "1", ModelState.UNAVAILABLE);
        models.has("other", "4", ModelState.READY);
        control.unload("m");
        control.unload("nosuch");
        assertThat(models.unloaded).containsExactly("m", "nosuch");
    }

    /** A server whose models do what the test says, and are asked for nothing else. */
    private static final class Models implements RepositoryControl {
        private final List<ModelStatus> states = new ArrayList<>();
        private final List<String> unloaded = new ArrayList<>();

        private void has(String model, String version, ModelState state) {
            states.add(new ModelStatus(model, version, "", state, "", Duration.ZERO));
        }

        @Override
        public List<ModelStatus> index() {
            return states;
        }

        @Override
        public void unload(String name, boolean dependents) {
            unloaded.add(name);
        }

        @Override
        public void load(String name, ModelOverride override) {
            throw unexpected();
        }

        private static AssertionError unexpected() {
            return new AssertionError("loading and unloading have no use for this");
        }
    }
}
