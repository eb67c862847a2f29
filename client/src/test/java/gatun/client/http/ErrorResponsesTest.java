// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.StatusCode;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Exceptions for errors of servers. */
class ErrorResponsesTest {
    @ParameterizedTest
    @CsvSource({
        "400,INVALID_ARGUMENT",
        "401,UNAUTHENTICATED",
        "403,PERMISSION_DENIED",
        "404,NOT_FOUND",
        "408,DEADLINE_EXCEEDED",
        "409,ALREADY_EXISTS",
        "413,RESOURCE_EXHAUSTED",
        "429,UNAVAILABLE",
        "499,CANCELLED",
        "500,INTERNAL",
        "501,UNIMPLEMENTED",
        "503,UNAVAILABLE",
        "504,DEADLINE_EXCEEDED",
        "302,UNKNOWN",
        "599,INTERNAL"
    })
    void shouldNameTheKindOfError(int status, StatusCode code) {
        assertThat(ErrorResponses.code(status)).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{\"error\":\"the text\"} | the text",
                "{\"code\":7,\"x\":{\"error\":\"no\"},\"error\":\"the text\"} | the text",
                "{\"error\":{\"code\":5,\"message\":\"inner\"}} | inner",
                "{\"detail\":\"Not Found\"} | Not Found",
                "<html>Bad Gateway</html> | <html>Bad Gateway</html>",
                "{\"error\":\"broken | {\"error\":\"broken",
                "[\"x\"] | [\"x\"]",
                "`  ` | status 502 without a text",
                "{\"other\":1} | {\"other\":1}"
            })
    void shouldFindTheText(String body, String text) {
        assertThat(ErrorResponses.text(502, MemorySegment.ofArray(body.getBytes(UTF_8))))
                .isEqualTo(text);
    }
}
