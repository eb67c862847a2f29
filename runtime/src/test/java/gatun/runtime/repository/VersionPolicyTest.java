// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import gatun.wire.inference.ModelVersionPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VersionPolicyTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                               | 1 2 10 | 10
                    latest { num_versions: 1 }       | 1 2 10 | 10
                    latest { num_versions: 2 }       | 1 2 10 | 2 10
                    latest { num_versions: 9 }       | 1 2 10 | 1 2 10
                    latest { num_versions: 0 }       | 1 2 10 | ''
                    all { }                          | 0 3    | 0 3
                    specific { versions: [ 2, 7 ] }  | 1 2 10 | 2
                    specific { versions: [ 7 ] }     | 1 2 10 | ''
                    """)
    void shouldChoose(String policy, String present, String chosen) throws TextFormat.ParseException {
        assertThat(VersionPolicy.choose(
                        TextFormat.parse(policy, ModelVersionPolicy.class), new TreeSet<>(numbers(present))))
                .isEqualTo(numbers(chosen));
    }

    private static List<Long> numbers(String text) {
        return Arrays.stream(text.split(" "))
                .filter(word -> !word.isEmpty())
                .map(Long::parseLong)
                .toList();
    }
}
