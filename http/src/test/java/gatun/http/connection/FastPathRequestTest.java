// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.connection.IncomingRequest.FastPathRequest;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FastPathRequestTest {
    private final RequestHeadParser head = new RequestHeadParser();
    private final FastPathRequest request = new FastPathRequest(head);

    /** Whether a head behind some other bytes is plain; {@code |} stands for the end of a line. */
    private boolean read(String text) {
        byte[] bytes = ("....." + text.replace("|", "\r\n")).getBytes(StandardCharsets.ISO_8859_1);
        try {
            boolean plain = head.parse(bytes, 5, bytes.length) == RequestHeadParser.Outcome.PLAIN;
            if (plain) {
                request.begin();
            }
            return plain;
        } catch (RequestHeadParser.RefusedHead e) {
            return false;
        }
    }

    @Test
    void shouldReadAPlainHead() {
        String text = "POST /v2/models/a-b_c.d~1/infer HTTP/1.1|HOST: localhost:8000|Content-length:  17 |"
                + "X-Empty:|Connection: Keep-Alive|Some-Text: \ta b\tc |";

        assertThat(read(text + "|{\"body\":1}")).isTrue();

        assertThat(request.method()).isEqualTo(Method.POST);
        assertThat(request.path()).isEqualTo("/v2/models/a-b_c.d~1/infer");
        assertThat(request.announcedByteSize()).isEqualTo(17);
        assertThat(request.first(HeaderNames.create("Some-Text"))).contains("a b\tc");
        assertThat(request.first(HeaderNames.create("x-empty"))).contains("");
        assertThat(request.has(HeaderNames.HOST)).isTrue();
        assertThat(request.has(HeaderNames.CONTENT_TYPE)).isFalse();
        assertThat(head.headEnd()).isEqualTo(5 + text.replace("|", "\r\n").length() + 2);
        assertThat(request.bodyConsumed()).isFalse();
        assertThat(request.closes()).isFalse();
    }

    @Test
    void shouldShowEachHeaderOnceWithItsFirstValue() {
        List<String> seen = new ArrayList<>();

        assertThat(read("GET /v2 HTTP/1.1|Host: h|A: 1|b: 2|a: 3||")).isTrue();
        request.eachHeader((name, value) -> seen.add(name + "=" + value));

        assertThat(seen).containsExactly("Host=h", "A=1", "b=2");
        assertThat(request.bodyConsumed()).isTrue();
    }

    @Test
    void shouldTellTheHostOfEachRequest() {
        assertThat(read("GET /v2 HTTP/1.1|A: localhost|hOsT: LocalHost:8000 |B: h||"))
                .isTrue();
        assertThat(request.isFor("localhost:8000")).isTrue();
        assertThat(request.isFor("localhost:80")).isFalse();
        assertThat(request.isFor("localhost:80000")).isFalse();
        assertThat(request.isFor("localhost")).isFalse();
        assertThat(request.host()).contains("LocalHost:8000");

        assertThat(read("GET /v2 HTTP/1.1|Host: evil|A: localhost:8000||")).isTrue();
        assertThat(request.isFor("localhost:8000")).isFalse();
        assertThat(request.host()).contains("evil");

        assertThat(read("GET /v2 HTTP/1.1|Host:||")).isTrue();
        assertThat(request.isFor("localhost:8000")).isFalse();
        assertThat(request.host()).contains("");
    }

    @Test
    void shouldForgetTheRequestBefore() {
        assertThat(read("POST /v2/a HTTP/1.1|Host: h|A: 1|Content-Length: 5||")).isTrue();
        request.endBody();

        assertThat(read("GET /v2 HTTP/1.1|Host: h||")).isTrue();

        assertThat(request.announcedByteSize()).isZero();
        assertThat(request.has(HeaderNames.create("A"))).isFalse();
        assertThat(request.method()).isEqualTo(Method.GET);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET",
                "GET /v2 HTTP/1.1|",
                "GET /v2 HTTP/1.1|Host",
                "GET /v2 HTTP/1.1|Host: h",
                "GET /v2 HTTP/1.1|Host: h\r",
                "GET /v2 HTTP/1.1|Host: h|",
                "GET /v2 HTTP/1.1|Host: h|\r"
            })
    void shouldLeaveAHeadThatIsNotAllThere(String text) {
        assertThat(read(text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HEAD /v2 HTTP/1.1|Host: h||",
                "get /v2 HTTP/1.1|Host: h||",
                "GET /v2 HTTP/1.0|Host: h||",
                "GET  /v2 HTTP/1.1|Host: h||",
                "GET /v2  HTTP/1.1|Host: h||",
                "GET v2 HTTP/1.1|Host: h||",
                "GET http://h/v2 HTTP/1.1|Host: h||",
                "GET /v2%20 HTTP/1.1|Host: h||",
                "GET /v2?a=b HTTP/1.1|Host: h||",
                "GET /v2#a HTTP/1.1|Host: h||",
                "GET //v2 HTTP/1.1|Host: h||",
                "GET /a/../v2 HTTP/1.1|Host: h||",
                "GET /./v2 HTTP/1.1|Host: h||",
                "GET /v2/\u00e4 HTTP/1.1|Host: h||",
                "GET /v2 HTTP/1.1\nHost: h||"
            })
    void shouldLeaveAnyOtherRequestLine(String text) {
        assertThat(read(text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "A: 1|",
                "Host: h|Host: h|",
                "Host : h|",
                " Host: h|",
                "Host: h| folded|",
                ": h|Host: h|",
                "Host|",
                "Host: h\n|",
                "Host: h|A: \u0000|",
                "Host: h|A: \u007f|",
                "Host: h|A: \u00e4|",
                "Host: h|A(: 1|",
                "Host: h|Content-Length: 5|Content-Length: 5|",
                "Host: h|Content-Length: -5|",
                "Host: h|Content-Length: +5|",
                "Host: h|Content-Length: 5 5|",
                "Host: h|Content-Length: 0x5|",
                "Host: h|Content-Length:|",
                "Host: h|Content-Length: 1234567890123456789|",
                "Host: h|Content-Length: 5|Transfer-Encoding: chunked|",
                "Host: h|Transfer-Encoding: identity|",
                "Host: h|Connection: close|",
                "Host: h|Connection: keep-alive, close|",
                "Host: h|Connection: upgrade|Upgrade: h2c|",
                "Host: h|Expect: 100-continue|",
                "Host: h|Trailer: A|",
                "Host: h|TE: trailers|"
            })
    void shouldLeaveWhatAsksForMoreAndWhatIsMalformed(String headers) {
        assertThat(read("POST /v2/models/a/infer HTTP/1.1|" + headers + "|")).isFalse();
    }

    @Test
    void shouldLeaveHeadsOfManyHeaders() {
        String most = "A: 1|".repeat(31);

        assertThat(read("GET /v2 HTTP/1.1|Host: h|" + most + "|")).isTrue();
        assertThat(read("GET /v2 HTTP/1.1|Host: h|" + most + "A: 1||")).isFalse();
    }
}
