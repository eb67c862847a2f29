// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.ErrorCode;
import gatun.runtime.logging.RequestFailure;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestRecordsTest {
    private final RequestRecords records = new RequestRecords();

    private void fail(ErrorCode code, String text, long atMillis) {
        records.failed(new RequestFailure(code, text), atMillis);
    }

    @Test
    void shouldCountTheSameFailureAndTellWhenItWasLast() {
        for (int i = 1; i <= 100; i++) {
            fail(ErrorCode.INVALID_ARGUMENT, "no such input", i);
            fail(ErrorCode.UNAVAILABLE, "the queue is full", 1000 + i);
        }
        fail(ErrorCode.INVALID_ARGUMENT, "no such input", 2000);
        assertThat(records.failures())
                .containsExactly(
                        new FailedRequest(2000, 101, "OTHER", "INVALID_ARGUMENT", "no such input"),
                        new FailedRequest(1100, 100, "REJECTED", "UNAVAILABLE", "the queue is full"));
    }

    @Test
    void shouldTellTheSameTextWithAnotherReasonApart() {
        fail(ErrorCode.INTERNAL, "failed", 1);
        fail(ErrorCode.CANCELLED, "failed", 2);
        assertThat(records.failures()).extracting(FailedRequest::reason).containsExactly("CANCELED", "BACKEND");
    }

    @Test
    void shouldKeepSoManyDifferentOnesTheLastOfAll() {
        fail(ErrorCode.INTERNAL, "again and again", 0);
        for (int i = 1; i <= 40; i++) {
            fail(ErrorCode.INTERNAL, "failure " + i, i);
            fail(ErrorCode.INTERNAL, "again and again", i);
        }
        List<FailedRequest> failures = records.failures();
        assertThat(failures).hasSize(RequestRecords.FAILURES);
        assertThat(failures.getFirst().text()).isEqualTo("again and again");
        assertThat(failures.getFirst().count()).isEqualTo(41);
        assertThat(failures.getLast().text()).isEqualTo("failure 26");
    }
}
