// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class InterruptionTest {
    private final StringWriter err = new StringWriter();
    private final Interruption interruption = new Interruption(new PrintWriter(err));

    @Test
    void shouldSayThatNothingWasMeasuredYet() {
        interruption.interrupt();
        assertThat(interruption.isAsked()).isTrue();
        assertThat(err.toString()).isEqualTo("gatun: interrupted before anything was measured\n");
    }

    @Test
    void shouldLeaveTheResultToWhoeverMeasures() throws InterruptedException {
        interruption.measuring();
        Thread end = Thread.ofVirtual().start(interruption::interrupt);
        while (!interruption.isAsked()) {
            Thread.onSpinWait();
        }
        assertThat(end.isAlive()).isTrue();
        interruption.close();
        end.join();
        assertThat(err.toString()).isEmpty();
    }
}
