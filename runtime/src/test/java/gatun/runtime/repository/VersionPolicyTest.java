// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import gatun.wire.inference.ModelVersionPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
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

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    specific { versions: [ 2, 3 ] }       | 1   | the policy asks for 2 and 3; there is 1
                    specific { versions: [ 3, 2, 1, 3 ] } | 1 4 | the policy asks for 1, 2 and 3; there are 1 and 4
                    specific { versions: [ 7 ] }          | ''  | the policy asks for 7; there is none
                    specific { versions: [ 1, 2 ] }       | 1 2 | ''
                    specific { }                          | 1   | ''
                    latest { num_versions: 2 }            | 1   | ''
                    """)
    void shouldTellWhatIsMissing(String policy, String present, String told) throws TextFormat.ParseException {
        assertThat(VersionPolicy.missing(
                                TextFormat.parse(policy, ModelVersionPolicy.class), new TreeSet<>(numbers(present)))
                        .orElse(""))
                .isEqualTo(told);
    }

    @Test
    void shouldListSomeOfManyVersions() {
        ModelVersionPolicy policy = ModelVersionPolicy.newBuilder()
                .setSpecific(ModelVersionPolicy.Specific.newBuilder()
                        .addAllVersions(LongStream.range(100, 5000).boxed().toList()))
                .build();

        assertThat(VersionPolicy.missing(policy, new TreeSet<>(List.of(1L))))
                .hasValueSatisfying(text ->
                        assertThat(text).contains(" 119, ...; there is 1").hasSizeLessThan(200));
    }

    private static List<Long> numbers(String text) {
        return Arrays.stream(text.split(" "))
                .filter(word -> !word.isEmpty())
                .map(Long::parseLong)
                .toList();
    }
}
