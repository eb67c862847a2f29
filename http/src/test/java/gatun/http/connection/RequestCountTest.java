// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestCountTest {
    private final RequestCount count = new RequestCount();

    @Test
    void shouldTellAConnectionThatOnlyLooksFromOneOfAClient() {
        assertThat(count.isViewerOnly()).as("before the first request").isFalse();
        for (int i = 0; i < 3; i++) {
            count.begin();
            count.markView();
        }
        assertThat(count.isViewerOnly()).isTrue();
        assertThat(count.isViewing()).isTrue();
        assertThat(count.ofClients()).isZero();

        count.begin();
        assertThat(count.isViewerOnly()).isFalse();
        assertThat(count.isViewing()).isFalse();
        count.begin();
        count.markView();
        assertThat(count.ofClients()).isEqualTo(1);
        assertThat(count.isViewerOnly()).isFalse();
    }

    @Test
    void shouldCountARequestOnceHoweverOftenItIsMarked() {
        count.begin();
        count.begin();
        count.markView();
        count.markView();
        assertThat(count.ofClients()).isEqualTo(1);
    }
}
