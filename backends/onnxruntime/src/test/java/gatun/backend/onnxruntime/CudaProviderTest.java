// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.spi.Device;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CudaProviderTest {
    @Test
    void shouldSayWhatABuildWithoutTheProviderLacks() {
        try (OnnxRuntimeBackend backend = new OnnxRuntimeBackend()) {
            backend.start(Map.of());

            assertThat(backend.runsOn(Device.Kind.CPU)).isTrue();
            assertThat(backend.advice(Device.Kind.CPU)).isEmpty();
            assertThat(backend.runsOn(Device.Kind.GPU)).isFalse();
            assertThat(backend.advice(Device.Kind.GPU))
                    .startsWith("ONNX Runtime 1.")
                    .contains("was built without its CUDA provider")
                    .contains("backend-config=onnxruntime,library=");
        }
    }
}
