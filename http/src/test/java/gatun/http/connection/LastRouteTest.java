// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastRouteTest {
    private final LastRoute last = new LastRoute();
    private final Object table = new Object();

    @Test
    void shouldKeepWhatOneTableHasFoundForOnePath() {
        last.remember(table, "/v2", "found");
        assertThat(last.recall(table, "/v2")).isEqualTo("found");
        assertThat(last.recall(new Object(), "/v2")).isNull();
        assertThat(last.recall(table, "/v1")).isNull();
    }

    @Test
    void shouldKeepNoLongPath() {
        String path = "/".repeat(LastRoute.MOST_CHARS + 1);
        last.remember(table, path, "found");
        assertThat(last.recall(table, path)).isNull();
    }
}
