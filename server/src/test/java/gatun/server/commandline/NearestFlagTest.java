package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestFlagTest {
    @ParameterizedTest
    @CsvSource({"'', '', 0", "a, '', 1", "kitten, sitting, 3", "flaw, lawn, 2", "port, port, 0", "prot, port, 2"})
    void shouldCountTheLettersThatDiffer(String left, String right, int letters) {
        assertThat(NearestFlag.distance(left, right)).isEqualTo(letters);
        assertThat(NearestFlag.distance(right, left)).isEqualTo(letters);
    }

    @Test
    void shouldTakeTheNearestOfSeveral() {
        List<String> flags = List.of("--grpc-port", "--http-port", "--metrics-port");
        assertThat(NearestFlag.to("--htp-port=8000", flags)).contains("--http-port");
    }

    @Test
    void shouldTakeTheFirstByNameOfEquallyNearOnes() {
        assertThat(NearestFlag.to("--log-x", List.of("--log-z", "--log-y"))).contains("--log-y");
    }

    @Test
    void shouldFindNothingFarAway() {
        assertThat(NearestFlag.to("--nonsense", List.of("--http-port"))).isEmpty();
    }
}
