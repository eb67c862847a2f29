// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ResponseStreamTest {
    private final List<String> received = new ArrayList<>();
    private final List<String> closed = new ArrayList<>();

    private ResponseStream stream(Duration patience) {
        return new ResponseStream(
                (response, last) -> {
                    received.add(response.id());
                    response.close();
                },
                patience);
    }

    private InferenceResponse response(String id) {
        return new InferenceResponse("m", "1", id, List.of(), Map.of(), List.of(() -> closed.add(id)));
    }

    private void fill(ResponseStream stream) {
        for (int i = 0; i < ResponseStream.CAPACITY; i++) {
            stream.send(response("r" + i), false);
        }
    }

    @Test
    void shouldEndTheRunWhenTheReceiverTakesNothingForTooLong() {
        ResponseStream stream = stream(Duration.ofMillis(20));
        fill(stream);
        long begun = System.nanoTime();
        assertThatThrownBy(() -> stream.send(response("late"), false))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED))
                .hasMessage(
                        "the client has taken no response for 20 ms while 8 were waiting; the run was ended, so that"
                                + " the instance can serve others");
        assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(20_000_000);
        assertThat(closed).as("what could not be sent gives its memory back").containsExactly("late");

        assertThat(stream.deliver()).isTrue();
        assertThat(received).as("what was sent before still arrives").hasSize(ResponseStream.CAPACITY);
    }

    @Test
    void shouldWaitAgainForAsLongAfterTheReceiverTookSomething() {
        ResponseStream stream = stream(Duration.ofMillis(20));
        fill(stream);
        assertThatThrownBy(() -> stream.send(response("late"), false)).isInstanceOf(GatunException.class);
        stream.deliver();
        fill(stream);
        assertThatThrownBy(() -> stream.send(response("late again"), false)).isInstanceOf(GatunException.class);
        assertThat(closed).contains("late", "late again");
    }

    @Test
    void shouldGiveTheMemoryBackOfWhatNobodyWants() {
        ResponseStream stream = stream(Duration.ofSeconds(60));
        fill(stream);
        stream.abandon();
        assertThat(closed).hasSize(ResponseStream.CAPACITY);
        assertThatThrownBy(() -> stream.send(response("more"), true))
                .hasMessage("nobody waits for more responses to this request");
        assertThat(closed).endsWith("more");
        assertThat(received).isEmpty();
    }
}
