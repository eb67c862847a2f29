// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadDigitTest {
    private static final String SEVEN = "pictures/seven-serif.png";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldPrintARowForEachTransport() throws IOException {
        try (FakeServer server = new FakeServer(0, 0, 0, 0, 0, 0, 0, 0.75f, 0.25f, 0)) {
            assertThat(run(SEVEN, "--url=" + server.httpUrl(), "--grpc-url=" + server.grpcUrl(), "--repeat=3"))
                    .isZero();
        }
        assertThat(out.toString().lines())
                .hasSize(1 + DigitTransport.named("all").size());
        assertThat(out.toString().lines().skip(1))
                .allMatch(line -> line.matches("seven-serif.png +.+ 7 +75\\.00 % +\\d+\\.\\d\\d"));
        assertThat(out.toString()).contains("HTTP, JSON", "HTTP, binary", "gRPC", "shared memory");
    }

    @Test
    void shouldSayWhatToDoWhenNoServerAnswers() throws IOException {
        int free;
        // It is bound and does not listen: nobody else can take its port meanwhile.
        try (Socket nobody = new Socket()) {
            nobody.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            free = nobody.getLocalPort();

            assertThat(run(SEVEN, "--url=http://localhost:" + free, "--grpc-url=localhost:" + free))
                    .isEqualTo(1);
        }

        assertThat(out.toString().lines().skip(1)).hasSize(5).allMatch(line -> line.endsWith("failed"));
        assertThat(err.toString().lines())
                .hasSize(2)
                .anyMatch(line -> line.startsWith("No server answers at http://localhost:" + free))
                .anyMatch(line -> line.startsWith("No server answers at localhost:" + free))
                .allMatch(line -> line.contains("./gatun serve --model-repository=examples/models"));
    }

    @Test
    void shouldSayWhenAnotherModelAnswers() throws IOException {
        try (FakeServer server = new FakeServer(0.5f, 0.5f)) {
            assertThat(run(SEVEN, "--transport=http", "--url=" + server.httpUrl()))
                    .isEqualTo(1);
        }
        assertThat(err.toString()).contains("2 probabilities, not 10");
    }

    @Test
    void shouldRefuseAMissingPictureBeforeItCallsAnyone() {
        assertThat(run("no-such-picture.png")).isEqualTo(1);

        assertThat(err.toString().strip()).isEqualTo("There is no file no-such-picture.png.");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldRefuseAnUnknownTransport() {
        assertThat(run(SEVEN, "--transport=telex")).isEqualTo(2);

        assertThat(err.toString()).contains("Unknown transport 'telex': expected http, grpc, shm, cuda or all.");
    }

    @Test
    void shouldDrawWhatTheNetworkSeesWhenAsked() throws IOException {
        try (FakeServer server = new FakeServer(0, 0, 0, 0, 0, 0, 0, 0.75f, 0.25f, 0)) {
            run(SEVEN, "--transport=grpc", "--grpc-url=" + server.grpcUrl(), "--show", "--repeat=1");
        }
        assertThat(out.toString().lines().limit(1 + DigitPicture.SIDE / 2).skip(1))
                .allMatch(line -> line.length() == DigitPicture.SIDE);
    }

    private int run(String... arguments) {
        return ReadDigit.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
