// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigurationFileTest {
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
