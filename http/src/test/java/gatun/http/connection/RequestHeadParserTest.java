// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.http.connection.RequestHeadParser.Outcome;
import gatun.http.connection.RequestHeadParser.RefusedHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadParserTest {
    private static final String GET = "GET /v2 HTTP/1.1\r\n";

    private int check(String head) throws RefusedHead {
        RequestHeadParser parser = new RequestHeadParser();
        byte[] bytes = head.getBytes(ISO_8859_1);
        return parser.parse(bytes, 0, bytes.length) == Outcome.INCOMPLETE ? -1 : parser.headEnd();
    }

    private RefusedHead refusal(String head) {
        return catchThrowableOfType(RefusedHead.class, () -> check(head));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                GET + "Host: h\r\n\r\n",
                GET + "Host:\r\n\r\n",
                GET + "host:\th:8000 \r\nX:\ta \u00e9\r\n\r\n",
                GET + "Host: [::1]:8000\r\nContent-Length: 5\r\n\r\n",
                GET + "Host: h\r\nTransfer-Encoding: Chunked\r\n\r\n",
                "GET /v2 HTTP/1.0\r\n\r\n",
                "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
                "GET http://h:1/v2 HTTP/1.1\r\nHost: H:1\r\n\r\n",
            })
    void shouldTakeWhatHasOneMeaning(String head) throws Exception {
        assertThat(check(head + "more")).isEqualTo(head.length());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n",
                " GET /v2 HTTP/1.1\r\n",
                "GET  /v2 HTTP/1.1\r\n",
                "GET /v2 HTTP/1.1 \r\n",
                "GET /v2\r\n",
                "GET /v2 HTTP/1.2\r\n",
                "GET /v2 http/1.1\r\n",
                "GET v2 HTTP/1.1\r\n",
                "GET /v\t2 HTTP/1.1\r\n",
                "GET http:// HTTP/1.1\r\n",
                "G(T /v2 HTTP/1.1\r\n",
                "GET /v2 HTTP/1.1\n",
                "GET /v2 HTTP/1.1\r\r\n",
                GET + "\r\n",
                GET + "Host: h\r\nHost: h\r\n\r\n",
                GET + "Host: a b\r\n\r\n",
                GET + "Host: user@h\r\n\r\n",
                GET + "Host: a,b\r\n\r\n",
                GET + "Host: h\n",
                GET + "Host : h\r\n",
                GET + " Host: h\r\n",
                GET + "Host: h\r\n folded\r\n",
                GET + "X: a\u0000b\r\n",
                GET + "X: a\rb\r\n",
                GET + "X: a\u007fb\r\n",
                GET + ": h\r\n",
                GET + "no colon\r\n",
                GET + "Content-Length: +5\r\n",
                GET + "Content-Length: -5\r\n",
                GET + "Content-Length: 0x5\r\n",
                GET + "Content-Length: 5_0\r\n",
                GET + "Content-Length: 5 5\r\n",
                GET + "Content-Length: 5, 5\r\n",
                GET + "Content-Length:\r\n",
                GET + "Content-Length: 9999999999999999999\r\n",
                GET + "Content-Length: 5\r\nContent-Length: 5\r\n",
                GET + "Transfer-Encoding: gzip, chunked\r\n",
                GET + "Transfer-Encoding: identity\r\n",
                GET + "Transfer-Encoding: xchunked\r\n",
                GET + "Transfer-Encoding:\r\n",
                GET + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                GET + "Host: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                "POST /v2 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                "GET http://a/v2 HTTP/1.1\r\nHost: b\r\n\r\n",
            })
    void shouldRefuseWhatSomebodyMayReadOtherwise(String head) {
        assertThat(refusal(head)).isNotNull();
        assertThat(refusal(head).status().code()).isEqualTo(400);
    }

    @Test
    void shouldReadAHeadThatComesByteByByte() throws Exception {
        byte[] head = (GET + "Host: h\r\n\r\n").getBytes(ISO_8859_1);
        RequestHeadParser parser = new RequestHeadParser();
        for (int end = 1; end < head.length; end++) {
            assertThat(parser.parse(head, 0, end)).isEqualTo(Outcome.INCOMPLETE);
        }
        assertThat(parser.parse(head, 0, head.length)).isEqualTo(Outcome.PLAIN);
        assertThat(parser.headEnd()).isEqualTo(head.length);
    }

    @Test
    void shouldBoundTheHead() {
        assertThat(refusal("GET /" + "x".repeat(RequestHeadParser.MAX_LINE_BYTES))
                        .status()
                        .code())
                .isEqualTo(414);
        assertThat(refusal(GET + "X: " + "x".repeat(RequestHeadParser.MAX_BYTES))
                        .status()
                        .code())
                .isEqualTo(431);
        assertThat(refusal(GET + "X: x\r\n".repeat(300)).status().code()).isEqualTo(431);
    }
}
