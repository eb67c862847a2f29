// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.ServerAddress;
import gatun.client.TlsOptions;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Opens connections to one server. Immutable and safe for any thread. */
final class Connector {
    private final ServerAddress server;
    private final @Nullable SSLContext tls;

    /** Throws {@link IllegalArgumentException} when files of TLS are missing or wrong. */
    Connector(ClientOptions options) {
        this.server = options.server();
        this.tls = server.tls() ? TlsContexts.of(options.tls()) : null;
    }

    /** Where the server may be, looked up anew: all addresses of its name, in the system's order. */
    List<SocketAddress> addresses() throws IOException {
        if (server.isUnix()) {
            return List.of(server.socketAddress());
        }
        List<SocketAddress> addresses = new ArrayList<>();
        for (InetAddress address : InetAddress.getAllByName(server.host())) {
            addresses.add(new InetSocketAddress(address, server.port()));
        }
        return addresses;
    }

    /** A channel that is not connected. */
    SocketChannel channel() throws IOException {
        return server.isUnix() ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
    }

    HttpConnection connect(WatchedChannel watched, SocketAddress address) throws IOException {
        SocketChannel channel = watched.channel();
        channel.connect(address);
        if (!server.isUnix()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        Wire wire = tls == null ? new SocketWire(channel) : TlsWire.over(channel, tls, server.host(), server.port());
        return new HttpConnection(watched, wire);
    }

    /** Makes TLS contexts of the PEM files that {@link TlsOptions} name. Stateless and safe for any thread. */
    static final class TlsContexts {
        private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
        private static final String KEY_END = "-----END PRIVATE KEY-----";
        private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "EdDSA");
        private static final char[] NO_PASSWORD = new char[0];

        private TlsContexts() {}

        /** Throws {@link IllegalArgumentException} when a file cannot be read, or is not what it should be. */
        static SSLContext of(TlsOptions options) {
            try {
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(
                        options.certificate().isPresent()
                                ? keys(
                                        options.certificate().get(),
                                        options.key().orElseThrow())
                                : null,
                        options.authorities().isPresent()
                                ? trust(options.authorities().get())
                                : null,
                        null);
                return context;
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalArgumentException("TLS cannot be set up with " + options + ": " + e, e);
            }
        }

        private static TrustManager @Nullable [] trust(Path authorities) throws GeneralSecurityException, IOException {
            KeyStore store = emptyStore();
            int number = 0;
            for (Certificate certificate : certificates(authorities)) {
                store.setCertificateEntry("authority" + number++, certificate);
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory.getTrustManagers();
        }

        private static KeyManager @Nullable [] keys(Path chain, Path key) throws GeneralSecurityException, IOException {
            KeyStore store = emptyStore();
            store.setKeyEntry(
                    "client", privateKey(key), NO_PASSWORD, certificates(chain).toArray(Certificate[]::new));
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, NO_PASSWORD);
            return factory.getKeyManagers();
        }

        private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            return store;
        }

        private static List<Certificate> certificates(Path file) throws GeneralSecurityException {
            try (InputStream in = Files.newInputStream(file)) {
                List<Certificate> found =
                        new ArrayList<>(CertificateFactory.getInstance("X.509").generateCertificates(in));
                if (found.isEmpty()) {
                    throw new IllegalArgumentException(
                            "'" + file + "' has no certificate: expected certificates in PEM format");
                }
                return found;
            } catch (IOException e) {
                throw unreadable(file, e);
            }
        }

        private static PrivateKey privateKey(Path file) throws GeneralSecurityException {
            String text;
            try {
                text = Files.readString(file, StandardCharsets.US_ASCII);
            } catch (IOException e) {
                throw unreadable(file, e);
            }
            int begin = text.indexOf(KEY_BEGIN);
            int end = text.indexOf(KEY_END);
            if (begin < 0 || end < begin) {
                throw noKey(file);
            }
            byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + KEY_BEGIN.length(), end));
            for (String algorithm : KEY_ALGORITHMS) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
                } catch (InvalidKeySpecException e) {
                    // A key of another algorithm.
                }
            }
            throw noKey(file);
        }

        private static IllegalArgumentException noKey(Path file) {
            return new IllegalArgumentException("'" + file
                    + "' has no private key that Java knows: expected an unencrypted one of PKCS 8 in PEM format, which"
                    + " begins with "
                    + KEY_BEGIN + "; 'openssl pkcs8 -topk8 -nocrypt' makes one of other formats");
        }

        private static IllegalArgumentException unreadable(Path file, IOException cause) {
            return new IllegalArgumentException("cannot read '" + file + "': " + IoFailure.reason(cause), cause);
        }
    }
}
