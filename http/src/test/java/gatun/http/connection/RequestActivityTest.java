// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.http.connection.StopNotice.RequestActivity;
import io.helidon.webserver.CloseConnectionException;
import org.junit.jupiter.api.Test;

/** The end of a connection whose listener stops. */
class RequestActivityTest {
    private final StopNotice stop = new StopNotice();
    private final RequestActivity activity = new RequestActivity(stop);

    @Test
    void shouldAnswerPipelinedRequestsUntilTheServerIsAboutToRefuse() {
        activity.beginRequest();
        stop.end();
        assertThat(activity.draining()).isTrue();
        assertThat(activity.mustBeLast()).isFalse();
        activity.endRequest();
        activity.beginRequest();

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
        activity.beginRequest();
        stop.drain();
        assertThat(activity.mayLinger()).isTrue();
        assertThat(activity.endIfIdle()).isTrue();
        assertThat(activity.mayLinger()).isFalse();
    }

    @Test
    void shouldNotWaitForTheClientsEndWhileTheServerEnds() {
        activity.beginRequest();
        stop.end();
        assertThat(activity.mayLinger()).isFalse();
    }

    @Test
    void shouldEndOnlyWhatIsIdle() {
        activity.beginRequest();
        assertThat(activity.endIfIdle()).isFalse();
        assertThat(activity.isBusy()).isTrue();
        activity.endRequest();
        activity.startReading();
        assertThat(activity.endIfIdle()).isTrue();
        assertThatExceptionOfType(CloseConnectionException.class).isThrownBy(activity::startReading);
        assertThatExceptionOfType(CloseConnectionException.class).isThrownBy(activity::beginRequest);
    }
}
