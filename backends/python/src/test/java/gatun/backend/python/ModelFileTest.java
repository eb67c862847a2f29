// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFileTest {
    private static boolean completes(Path folder, String text) throws IOException {
        Path file = Files.writeString(folder.resolve("model.py"), text);
        return new ModelFile(file, "1", folder).completes();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "class TritonPythonModel:\n    def execute(self, requests): pass\n",
                "import numpy\nclass TritonPythonModel():\n    pass\n",
                "class TritonPythonModel (object) :\n    pass\n",
            })
    void shouldNotAskAModelThatHasNoSuchMethod(String text, @TempDir Path folder) throws IOException {
        assertThat(completes(folder, text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "class TritonPythonModel:\n    @staticmethod\n    def auto_complete_config(config): return config\n",
                "from python_model import *\n",
                "from base import Base\nclass TritonPythonModel(Base):\n    pass\n",
                "TritonPythonModel = make()\n",
            })
    void shouldAskAModelThatHasOrMayInheritIt(String text, @TempDir Path folder) throws IOException {
        assertThat(completes(folder, text)).isTrue();
    }
}
