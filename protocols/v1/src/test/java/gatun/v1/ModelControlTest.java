// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.limits.HeapBudget;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.Tracing;
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
    private static final class Models implements InferenceServer {
        private final HeapBudget heap = new HeapBudget(1 << 20);
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

        @Override
        public ServerMetadata metadata() {
            throw unexpected();
        }

        @Override
        public boolean live() {
            throw unexpected();
        }

        @Override
        public boolean ready() {
            throw unexpected();
        }

        @Override
        public ModelVersion model(String name, String version) {
            throw unexpected();
        }

        @Override
        public Subscription onChange(Runnable listener) {
            throw unexpected();
        }

        @Override
        public List<ModelStatistics> statistics() {
            throw unexpected();
        }

        @Override
        public List<EngineStatistics> engines() {
            throw unexpected();
        }

        @Override
        public InferenceResponse infer(InferenceRequest request) {
            throw unexpected();
        }

        @Override
        public Tracing tracing() {
            throw unexpected();
        }

        @Override
        public RegionRegistry regions() {
            throw unexpected();
        }

        @Override
        public HeapBudget heap() {
            return heap;
        }

        @Override
        public BufferPool buffers() {
            throw unexpected();
        }

        @Override
        public void close() {
            throw unexpected();
        }

        private static AssertionError unexpected() {
            return new AssertionError("loading and unloading have no use for this");
        }
    }
}
