// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {
    @ParameterizedTest
    @CsvSource({"'', '', 0", "a, '', 1", "kitten, sitting, 3", "flaw, lawn, 2", "port, port, 0", "prot, port, 2"})
    void shouldCountTheLettersThatDiffer(String left, String right, int letters) {
        assertThat(NearestName.distance(left, right)).isEqualTo(letters);
        assertThat(NearestName.distance(right, left)).isEqualTo(letters);
    }

    @Test
    void shouldFindWhatIsMeantAndNothingFarAway() {
        List<String> names = List.of("max_batch_size", "dynamic_batching", "input");
        assertThat(NearestName.to("max_batchsize", names)).contains("max_batch_size");
        assertThat(NearestName.to("nonsense", names)).isEmpty();
    }
}
