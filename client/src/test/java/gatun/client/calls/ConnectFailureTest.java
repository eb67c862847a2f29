// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.ServerAddress;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class ConnectFailureTest {
    private static String reason(String url, Throwable failure) {
        return ConnectFailure.reason(ServerAddress.parse(url), failure).orElse("");
    }

    @Test
    void shouldNameAHostThatIsUnknown() {
        assertThat(reason("http://nosuch.example", new UnknownHostException("odd text")))
                .startsWith("the host 'nosuch.example' is unknown: check its spelling");
        assertThat(reason("grpc://nosuch.example", new IOException(new UnresolvedAddressException())))
                .startsWith("the host 'nosuch.example' is unknown");
    }

    @Test
    void shouldSayThatThereIsNoTls() {
        assertThat(reason("https://h:8000/base", new SSLException("Unsupported or unrecognized SSL message")))
                .endsWith("if it answers in plain text, use http://h:8000/base");
        assertThat(reason("grpcs://[::1]:8001", new SSLException("not an SSL/TLS record: " + "00".repeat(1000))))
                .endsWith("if it answers in plain text, use grpc://[::1]:8001")
                .hasSizeLessThan(200);
    }

    @Test
    void shouldTellACertificateFromOtherFaultsOfAHandshake() {
        SSLHandshakeException certificate = new SSLHandshakeException("(certificate_unknown)");
        certificate.initCause(new CertificateException("No name matching h found"));
        assertThat(reason("https://h", certificate))
                .isEqualTo("its certificate is not accepted (No name matching h found): expected one for 'h' by an"
                        + " authority that this client trusts, such as one named by TlsOptions or --tls-ca");
        assertThat(reason("https://h", new SSLHandshakeException("Received fatal alert: protocol_version")))
                .isEqualTo("the TLS handshake failed: Received fatal alert: protocol_version");
    }

    @Test
    void shouldLeaveOtherFailuresToTheirOwnText() {
        assertThat(reason("http://h", new ConnectException("Connection refused")))
                .isEmpty();
    }
}
