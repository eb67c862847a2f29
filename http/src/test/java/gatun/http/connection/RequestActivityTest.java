// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.helidon.webserver.CloseConnectionException;
import org.junit.jupiter.api.Test;

/** When a connection ends whose listener stops. */
class RequestActivityTest {
    private final StopNotice stop = new StopNotice();
    private final RequestActivity activity = new RequestActivity(stop);

    @Test
    void shouldAnswerPipelinedRequestsUntilTheServerIsAboutToRefuse() {
        activity.beginsRequest();
        stop.end();
        assertThat(activity.draining()).isTrue();
        assertThat(activity.mustBeLast()).isFalse();
        activity.endsRequest();
        activity.beginsRequest();

        stop.cutPipelines();

        assertThat(activity.mustBeLast()).isTrue();
    }

    @Test
    void shouldNotLetAPipelineKeepADrainFromItsEnd() {
        stop.drain();
        int answered = 0;
        while (!activity.mustBeLast()) {
            answered++;
        }
        assertThat(answered).isEqualTo(255);
    }

    @Test
    void shouldWaitForTheClientsEndAfterTheLastResponseUntilTheServerEnds() {
        activity.beginsRequest();
        stop.drain();
        assertThat(activity.mayLinger()).isTrue();
        assertThat(activity.endIfIdle()).isTrue();
        assertThat(activity.mayLinger()).isFalse();
    }

    @Test
    void shouldNotWaitForTheClientsEndWhileTheServerEnds() {
        activity.beginsRequest();
        stop.end();
        assertThat(activity.mayLinger()).isFalse();
    }

    @Test
    void shouldEndOnlyWhatIsIdle() {
        activity.beginsRequest();
        assertThat(activity.endIfIdle()).isFalse();
        assertThat(activity.isBusy()).isTrue();
        activity.endsRequest();
        activity.reads();
        assertThat(activity.endIfIdle()).isTrue();
        assertThatExceptionOfType(CloseConnectionException.class).isThrownBy(activity::reads);
        assertThatExceptionOfType(CloseConnectionException.class).isThrownBy(activity::beginsRequest);
    }
}
