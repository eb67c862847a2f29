// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.testing.Certificates;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that TLS can be served with, and the errors for the others. */
class ServerTlsTest {
    /** Where the older form of a 2048-bit RSA key begins within the newer one. */
    private static final int RSA_ENVELOPE = 26;

    /** The same for a P-256 key. */
    private static final int EC_ENVELOPE = 28;

    private static final byte[] P_256 = {
        (byte) 0xa0, 0x0a, 0x06, 0x08, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x03, 0x01, 0x07
    };

    @TempDir
    static Path folder;

    private static Certificates certificates;
    private static Certificates.Identity rsa;
    private static Certificates.Identity ec;

    @BeforeAll
    static void makeCertificates() {
        certificates = new Certificates(folder);
        rsa = certificates.identity("rsa");
        ec = certificates.identity("ec", "EC", 256);
    }

    private static ServerTls load(Path certificate, Path key) {
        return ServerTls.load(new TlsFiles(
                new PemFile("--some-cert", certificate), new PemFile("--some-key", key), Optional.empty()));
    }

    private static byte[] der(Path pem) throws IOException {
        String text = Files.readString(pem).replaceAll("-----[A-Z ]+-----", "");
        return Base64.getMimeDecoder().decode(text);
    }

    private static byte[] ecKey(byte[] curve) throws IOException {
        byte[] key = der(ec.key());
        // A sequence of the number 1 and the key's bytes, in front of what else there is.
        byte[] start = Arrays.copyOfRange(key, EC_ENVELOPE + 2, EC_ENVELOPE + 2 + 3 + 34);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(0x30);
        bytes.write(start.length + curve.length);
        bytes.writeBytes(start);
        bytes.writeBytes(curve);
        return bytes.toByteArray();
    }

    @Test
    void shouldTakeKeysOfEveryUsualForm() throws IOException {
        byte[] rsaKey = der(rsa.key());
        Path pkcs1 = certificates.write(
                "pkcs1.key", "RSA PRIVATE KEY", Arrays.copyOfRange(rsaKey, RSA_ENVELOPE, rsaKey.length));
        Path sec1 = certificates.write("sec1.key", "EC PRIVATE KEY", ecKey(P_256));
        Certificates.Identity edwards = certificates.identity("ed25519", "Ed25519", 0);

        assertThat(load(rsa.certificate(), rsa.key()).newEngine("h2").getUseClientMode())
                .isFalse();
        assertThat(load(rsa.certificate(), pkcs1)).isNotNull();
        assertThat(load(ec.certificate(), ec.key())).isNotNull();
        assertThat(load(ec.certificate(), sec1)).isNotNull();
        assertThat(load(edwards.certificate(), edwards.key())).isNotNull();
    }

    @Test
    void shouldNameTheFlagOfAFileThatIsMissing() {
        Path missing = folder.resolve("missing.pem");

        assertThatThrownBy(() -> load(missing, rsa.key()))
                .isInstanceOf(TlsException.class)
                .hasMessage("--some-cert=" + missing + ": there is no such file; name a file in PEM format");
        assertThatThrownBy(() -> load(rsa.certificate(), missing))
                .isInstanceOf(TlsException.class)
                .hasMessageStartingWith("--some-key=" + missing);
    }

    @Test
    void shouldSayWhatIsWrongWithAFile() throws IOException {
        Path encrypted = certificates.write("encrypted.key", "ENCRYPTED PRIVATE KEY", new byte[50]);
        Path garbage = certificates.write("garbage.key", "PRIVATE KEY", new byte[50]);
        Path curveless = certificates.write("curveless.key", "EC PRIVATE KEY", ecKey(new byte[0]));
        Path truncated = certificates.write("truncated.key", "EC PRIVATE KEY", new byte[] {0x30, 0x50, 2});
        Path badCertificate = certificates.write("bad.crt", "CERTIFICATE", new byte[50]);

        assertThatThrownBy(() -> load(rsa.certificate(), encrypted)).hasMessageContaining("is encrypted");
        assertThatThrownBy(() -> load(rsa.certificate(), garbage)).hasMessageContaining("cannot be read");
        assertThatThrownBy(() -> load(ec.certificate(), curveless)).hasMessageContaining("does not name its curve");
        assertThatThrownBy(() -> load(ec.certificate(), truncated)).hasMessageContaining("is damaged");
        assertThatThrownBy(() -> load(rsa.certificate(), rsa.certificate()))
                .hasMessageContaining("no private key in it");
        assertThatThrownBy(() -> load(rsa.key(), rsa.key())).hasMessageContaining("no certificate in it");
        assertThatThrownBy(() -> load(badCertificate, rsa.key())).hasMessageContaining("certificate in it is damaged");
        assertThatThrownBy(() -> load(folder, rsa.key())).hasMessageContaining("cannot be read");
    }

    @Test
    void shouldRefuseAKeyThatIsNotTheCertificates() {
        Certificates.Identity other = certificates.identity("other");

        assertThatThrownBy(() -> load(rsa.certificate(), other.key()))
                .hasMessageContaining("--some-key=" + other.key())
                .hasMessageContaining("--some-cert=" + rsa.certificate());
        assertThatThrownBy(() -> load(rsa.certificate(), ec.key())).hasMessageContaining("--some-key=" + ec.key());
    }

    @Test
    void shouldNameTheFlagOfRootsThatCannotBeRead() {
        PemFile roots = new PemFile("--some-roots", rsa.key());
        TlsFiles files = new TlsFiles(
                new PemFile("--some-cert", rsa.certificate()),
                new PemFile("--some-key", rsa.key()),
                Optional.of(roots));

        assertThatThrownBy(() -> ServerTls.load(files)).hasMessageStartingWith("--some-roots=" + rsa.key());
    }
}
