// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.grpc.connection.ClientSettings.FloodGuard;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FloodGuardTest {
    private final AtomicLong nanos = new AtomicLong(5);
    private final FloodGuard guard = new FloodGuard(nanos::get);

    private static void repeat(int times, Runnable frame) {
        for (int i = 0; i < times; i++) {
            frame.run();
        }
    }

    @Test
    void shouldCutOffAClientThatSendsControlFramesOverTheLimit() {
        repeat(FloodGuard.CONTROL_FRAMES_PER_SECOND, guard::controlFrame);

        ConnectionError error = catchThrowableOfType(ConnectionError.class, guard::controlFrame);

        assertThat(error.error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM);
    }

    @Test
    void shouldBeginAnewWithEverySecond() {
        assertThatCode(() -> {
                    for (int second = 0; second < 5; second++) {
                        repeat(FloodGuard.CONTROL_FRAMES_PER_SECOND, guard::controlFrame);
                        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
                    }
                })
                .doesNotThrowAnyException();
    }
}
