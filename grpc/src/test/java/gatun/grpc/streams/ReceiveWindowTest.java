// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.streams.InboundMessage.ReceiveWindow;
import org.junit.jupiter.api.Test;

class ReceiveWindowTest {
    private final ReceiveWindow window = new ReceiveWindow(1000);

    @Test
    void shouldGiveBytesBackWhenTheirMessageWasConsumed() {
        assertThat(window.received(600, 0)).isTrue();
        assertThat(window.messageBegins(0)).isZero();
        window.messageWaits();

        assertThat(window.messageConsumed(600)).isEqualTo(600);
        window.told(600);
        assertThat(window.received(1000, 0)).isTrue();
        assertThat(window.received(1, 0)).isFalse();
    }

    @Test
    void shouldNotAnnounceEverySmallMessage() {
        int announced = 0;
        for (int i = 0; i < 100; i++) {
            assertThat(window.received(10, 0)).isTrue();
            assertThat(window.messageBegins(0)).isZero();
            window.messageWaits();
            int increment = window.messageConsumed(10);
            window.told(increment);
            announced += increment > 0 ? 1 : 0;
        }

        assertThat(announced).isEqualTo(2);
    }

    @Test
    void shouldGiveAMessageThatDoesNotFitAllItNeeds() {
        assertThat(window.received(500, 0)).isTrue();

        int increment = window.messageBegins(5_000);

        assertThat(increment).isEqualTo(5_000);
        window.told(increment);
        assertThat(window.received(5_000, 0)).isTrue();
        window.messageWaits();
        assertThat(window.messageConsumed(5_500)).isEqualTo(500);
    }

    @Test
    void shouldNotGiveAMessageInAdvanceWhileEarlierOnesWait() {
        assertThat(window.received(900, 0)).isTrue();
        assertThat(window.messageBegins(0)).isZero();
        window.messageWaits();

        assertThat(window.messageBegins(5_000)).isZero();
        assertThat(window.messageConsumed(800)).isEqualTo(5_000);
    }

    @Test
    void shouldGivePaddingBackThoughNobodyConsumesIt() {
        for (int i = 0; i < 100; i++) {
            assertThat(window.received(10, 90)).isTrue();
            assertThat(window.messageBegins(0)).isZero();
            window.messageWaits();
            window.told(window.messageConsumed(10));
        }
    }

    @Test
    void shouldNotLetAClientSendWhatItHasNotBeenToldYet() {
        assertThat(window.received(600, 0)).isTrue();
        assertThat(window.messageBegins(0)).isZero();
        window.messageWaits();

        assertThat(window.messageConsumed(600)).isEqualTo(600);
        assertThat(window.received(400, 0)).isTrue();
        assertThat(window.received(1, 0)).isFalse();
    }

    @Test
    void shouldNeverAnnounceMoreThanAWindowMayBe() {
        assertThat(window.messageBegins(Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE - 1000);
    }
}
