// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates for tests, made by the JDK's keytool in a folder of the test; PEM files as operators have them. */
public final class Certificates {
    /** Of the files with keys. */
    public static final String PASSWORD = "password";

    private static final int LIMIT_SECONDS = 60;

    private final Path folder;

    /** Makes certificates in {@code folder}. */
    public Certificates(Path folder) {
        this.folder = folder;
    }

    /** A key of its own and the certificate for it, which vouches for itself. */
    public record Identity(Path store, Path certificate, Path key) {}

    /** A self-signed identity for localhost; {@code name} names its files and its subject. */
    public Identity identity(String name, String algorithm, int bits) {
        Path store = folder.resolve(name + ".p12");
        keytool(
                "-genkeypair",
                "-alias",
                "entry",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-keyalg",
                algorithm,
                bits == 0 ? "-v" : "-keysize",
                bits == 0 ? "-noprompt" : Integer.toString(bits),
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD);
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore entries = KeyStore.getInstance("PKCS12");
            entries.load(in, PASSWORD.toCharArray());
            Certificate certificate = entries.getCertificate("entry");
            PrivateKey key = (PrivateKey) entries.getKey("entry", PASSWORD.toCharArray());
            return new Identity(
                    store,
                    write(name + ".crt", "CERTIFICATE", certificate.getEncoded()),
                    write(name + ".key", "PRIVATE KEY", key.getEncoded()));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** An RSA identity. */
    public Identity identity(String name) {
        return identity(name, "RSA", 2048);
    }

    /**
     * The TLS context of a client that trusts one certificate only; with an identity of its own, that of a server too.
     *
     * @param trusted the certificate's file
     * @param shown the client's own certificate; empty for none
     */
    public static SSLContext client(Path trusted, Optional<Identity> shown) {
        try (InputStream in = Files.newInputStream(trusted)) {
            KeyStore trust = KeyStore.getInstance("PKCS12");
            trust.load(null, null);
            trust.setCertificateEntry(
                    "trusted", CertificateFactory.getInstance("X.509").generateCertificate(in));
            TrustManagerFactory judges = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            judges.init(trust);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(
                    shown.isPresent()
                            ? KeyStore.getInstance(shown.get().store().toFile(), PASSWORD.toCharArray())
                            : null,
                    PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), judges.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** A file with one PEM object. */
    public Path write(String file, String label, byte[] der) {
        String text = "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + label + "-----\n";
        try {
            return Files.writeString(folder.resolve(file), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void keytool(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("keytool has not ended within " + LIMIT_SECONDS + " s: " + said);
            }
            if (process.exitValue() != 0) {
                throw new AssertionError("keytool failed with " + process.exitValue() + ": " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
