// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListedModelsTest {
    @Test
    void shouldSayInTensorFlowServingsWordsWhereAFileIsNoList(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("bad.config"), "improperly formatted file");

        assertThatThrownBy(() -> ListedModels.read(file))
                .isInstanceOf(GatunException.class)
                .hasMessageStartingWith("Invalid protobuf file: '" + file
                        + "': Error parsing text-format tensorflow.serving.ModelServerConfig: 1:")
                .hasMessageEndingWith("expected tensorflow.serving.ModelServerConfig in protobuf's text format");
    }

    @Test
    void shouldNameACharacterThatNobodySees(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("bad.config"), "model_config_list\u00A0{ }");

        assertThatThrownBy(() -> ListedModels.read(file))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("tensorflow.serving.ModelServerConfig: 1:18: U+00A0 no-break space");
    }
}
