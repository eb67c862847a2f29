// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFingerprintTest {
    private static final ModelConfig CONFIG =
            ModelConfig.newBuilder().setName("m").setMaxBatchSize(4).build();

    @TempDir
    Path folder;

    private Path version(String name, String file, String content) throws IOException {
        Path version = folder.resolve(name);
        Path path = version.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
        return version;
    }

    @Test
    void shouldBeTheSameForTheSameFilesElsewhere() throws Exception {
        byte[] here = ModelFingerprint.of(CONFIG, version("a", "variables/0", "weights"));
        assertThat(ModelFingerprint.of(CONFIG, version("b", "variables/0", "weights")))
                .isEqualTo(here);
        Path linked = folder.resolve("linked");
        Files.createSymbolicLink(linked, folder.resolve("a"));
        assertThat(ModelFingerprint.of(CONFIG, linked)).isEqualTo(here);
    }

    @Test
    void shouldDependOnNamesAndContentOfFiles() throws Exception {
        byte[] first = ModelFingerprint.of(CONFIG, version("a", "model.onnx", "weights"));
        assertThat(ModelFingerprint.of(CONFIG, version("b", "model.onnx", "Weights")))
                .isNotEqualTo(first);
        assertThat(ModelFingerprint.of(CONFIG, version("c", "other.onnx", "weights")))
                .isNotEqualTo(first);
        version("d", "model.onnx", "weights");
        assertThat(ModelFingerprint.of(CONFIG, version("d", "model.onnx.data", "")))
                .isNotEqualTo(first);
        assertThat(ModelFingerprint.of(CONFIG, folder.resolve("none"))).isNotEqualTo(first);
    }

    @Test
    void shouldDependOnTheConfigurationButForItsInstances() {
        Path none = folder.resolve("none");
        byte[] first = ModelFingerprint.of(CONFIG, none);
        ModelConfig more = CONFIG.toBuilder()
                .addInstanceGroup(ModelInstanceGroup.newBuilder().setCount(2))
                .build();
        assertThat(ModelFingerprint.of(more, none)).isEqualTo(first);
        assertThat(ModelFingerprint.of(CONFIG.toBuilder().setMaxBatchSize(8).build(), none))
                .isNotEqualTo(first);
    }

    @Test
    void shouldDependOnTheMembersOfAnEnsembleInTheirOrder() {
        byte[] one = {1};
        byte[] two = {2};
        byte[] first = ModelFingerprint.of(CONFIG, List.of(one, two));
        assertThat(ModelFingerprint.of(CONFIG, List.of(two, one))).isNotEqualTo(first);
        assertThat(ModelFingerprint.of(CONFIG, List.of(one))).isNotEqualTo(first);
        assertThat(ModelFingerprint.of(CONFIG, List.of(one, two))).isEqualTo(first);
    }
}
