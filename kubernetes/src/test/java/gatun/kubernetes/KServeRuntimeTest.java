// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** KServe's runtimes, read strictly. */
class KServeRuntimeTest {
    @ParameterizedTest
    @CsvSource({
        "gatun-v1, v1, tensorflow_model_server, 8080",
        "gatun-v2, v2, tritonserver, 8080",
        "gatun-grpc, grpc-v2, tritonserver, 9000"
    })
    void shouldBeARuntimeOfItsProtocol(String name, String protocol, String program, int port) {
        ClusterServingRuntime runtime =
                StrictYaml.read(StrictYaml.file(Path.of("kserve", name + ".yaml")), ClusterServingRuntime.class);

        assertThat(runtime.apiVersion()).isEqualTo("serving.kserve.io/v1alpha1");
        assertThat(runtime.kind()).isEqualTo("ClusterServingRuntime");
        assertThat(runtime.metadata().getName()).isEqualTo(name);
        assertThat(runtime.spec().protocolVersions()).containsExactly(protocol);
        assertThat(runtime.spec().supportedModelFormats()).isNotEmpty().allSatisfy(format -> assertThat(format.name())
                .matches("triton|onnx|tensorflow"));
        // KServe mounts models into the container of this name.
        Container container = runtime.spec().containers().getFirst();
        assertThat(container.getName()).isEqualTo("kserve-container");
        assertThat(container.getCommand()).containsExactly(program);
        assertThat(container.getArgs()).anyMatch(argument -> argument.endsWith("=/mnt/models"));
        assertThat(Flags.unknown(container.getArgs())).isEmpty();
        assertThat(container.getPorts().getFirst().getContainerPort()).isEqualTo(port);
        assertThat(container.getArgs()).anyMatch(argument -> argument.endsWith("=" + port));
        assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
        assertThat(container.getVolumeMounts())
                .extracting(VolumeMount::getName)
                .containsExactlyElementsOf(
                        runtime.spec().volumes().stream().map(Volume::getName).toList());
    }
}
