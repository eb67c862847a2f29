// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.configuration.ConfigurationFile.ConfigurationSyntaxException;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationFileTest {
    @TempDir
    Path directory;

    @Test
    void shouldSkipCommentsThatAreNotUtf8() throws IOException {
        Path file = directory.resolve("config.pbtxt");
        Files.write(file, "# 模型\nbackend: 'b' # 后端".getBytes(Charset.forName("GBK")));

        assertThat(ConfigurationFile.read(file).getBackend()).isEqualTo("b");
    }

    @Test
    void shouldTellFileLineAndColumnOfAByteOrderMark() throws IOException {
        Path file = directory.resolve("config.pbtxt");
        Files.write(file, "\uFEFFname: 'm'".getBytes(UTF_8));

        assertThatThrownBy(() -> ConfigurationFile.read(file))
                .isInstanceOf(ConfigurationSyntaxException.class)
                .hasMessage("config.pbtxt:1:1: U+FEFF byte order mark at the start; save the file without it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1/config.pbtxt", "Config.pbtxt", "config.pbtxt.txt", "config.pbtext", "23/CONFIG.PBTXT"})
    void shouldRefuseAModelWhoseConfigurationIsNotReadForItsName(String misplaced) throws IOException {
        Files.createDirectories(directory.resolve(misplaced).getParent());
        Files.writeString(directory.resolve(misplaced), "backend: 'b'");

        assertThatThrownBy(() -> ModelConfiguration.written(DeclaredEngines.CATALOG, "m", directory, "", true))
                .isInstanceOf(GatunException.class)
                .hasMessage(
                        "'" + misplaced + "' is not read; rename it to config.pbtxt, in the model's own folder, where"
                                + " its configuration is looked for");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"config.pbtxt~", "config.pbtxt.bak", "_config.pbtxt", "assets/config.pbtxt", "1/a/config.pbtxt"})
    void shouldLeaveCopiesThatSomebodyPutAside(String aside) throws IOException {
        Files.createDirectories(directory.resolve(aside).getParent());
        Files.writeString(directory.resolve(aside), "backend: 'b'");

        assertThat(ModelConfiguration.written(DeclaredEngines.CATALOG, "m", directory, "", true)
                        .getBackend())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "max_batch_size: 12345678901 | 1:17: Integer out of range (12345678901)",
                "max_batch_size: \"many\" | 1:17: Expected integer, got: \"many\"",
                "version_policy { latest { num_versions: -5 } } | 1:41: Expected integer, got: -5"
            })
    void shouldTellOfNumbersInTheWordsOfTheParserThatPeopleKnow(String text, String failure) {
        assertThatThrownBy(() -> ConfigurationFile.parse(text, "config.pbtxt"))
                .isInstanceOf(ConfigurationSyntaxException.class)
                .hasMessageContaining(failure);
    }
}
