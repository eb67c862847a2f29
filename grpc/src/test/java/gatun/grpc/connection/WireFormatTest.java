// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.grpc.calls.CallAdmission.CallTimeout;
import gatun.grpc.headers.HeaderEncoder;
import gatun.grpc.headers.HeaderEncoder.PercentEncoding;
import io.grpc.Metadata;
import io.grpc.Status;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WireFormatTest {
    @ParameterizedTest
    @CsvSource({
        "plain text, plain text",
        "100 %, 100 %25",
        "ä, %C3%A4",
        "'line\nbreak', line%0Abreak",
        "~, ~",
        "\u007f, %7F",
        "' a b ', %20a b%20",
        "' ', %20"
    })
    void shouldEscapeStatusTexts(String text, String encoded) {
        assertThat(PercentEncoding.encode(text)).isEqualTo(encoded);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "ä", "大", "😀", "%"})
    void shouldCutStatusTextsThatAreTooLong(String character) {
        String text = character.repeat(5000);

        String encoded = PercentEncoding.encode(text);

        assertThat(encoded).endsWith("...").hasSizeLessThan(7000);
        String decoded = URLDecoder.decode(encoded, StandardCharsets.UTF_8);
        assertThat(text).startsWith(decoded.substring(0, decoded.length() - 3));
    }

    @ParameterizedTest
    @CsvSource({
        "1n, 1",
        "5u, 5000",
        "20m, 20000000",
        "3S, 3000000000",
        "2M, 120000000000",
        "1H, 3600000000000",
        "99999999H, 9223372036854775807"
    })
    void shouldReadTimeouts(String text, long nanos) {
        assertThat(CallTimeout.parseNanos(text)).isEqualTo(OptionalLong.of(nanos));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "S", "-1S", "1s", "123456789S", "1 S", "1.5S"})
    void shouldRefuseWhatIsNoTimeout(String text) {
        assertThat(CallTimeout.parseNanos(text)).isEmpty();
    }

    @Test
    void shouldEncodeBlocksThatNeedNoTable() throws Exception {
        Metadata trailers = new Metadata();
        trailers.put(Metadata.Key.of("a-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {1, 2});
        trailers.put(Metadata.Key.of("grpc-status", Metadata.ASCII_STRING_MARSHALLER), "99");
        HpackDecoder decoder = new HpackDecoder(4096, System::nanoTime);
        decoder.setMaxTableCapacity(0);

        MetaData block = decoder.decode(
                ByteBuffer.wrap(HeaderEncoder.trailersOnly(Status.ABORTED.withDescription("for 50 %"), trailers)));

        assertThat(block).isInstanceOf(MetaData.Response.class);
        assertThat(block.getHttpFields().get("grpc-status")).isEqualTo("10");
        assertThat(block.getHttpFields().get("grpc-message")).isEqualTo("for 50 %25");
        assertThat(block.getHttpFields().get("a-bin")).isEqualTo("AQI");
        assertThat(block.getHttpFields().get("content-type")).isEqualTo("application/grpc");
    }

    @Test
    void shouldLeaveOutTheBlanksAroundMetadata() throws Exception {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("x", Metadata.ASCII_STRING_MARSHALLER), " a b ");

        MetaData block =
                new HpackDecoder(4096, System::nanoTime).decode(ByteBuffer.wrap(HeaderEncoder.response(headers, "")));

        assertThat(block.getHttpFields().get("x")).isEqualTo("a b");
    }

    @Test
    void shouldRefuseMetadataThatHttpCannotCarry() {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("x", Metadata.ASCII_STRING_MARSHALLER), "a\nb");

        assertThatThrownBy(() -> HeaderEncoder.response(headers, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("metadata");
    }
}
