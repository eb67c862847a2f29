// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.ServerAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertificateException;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/** Says why no connection to a server can be made, and what to check, for every protocol. Stateless. */
public final class ConnectFailure {
    private static final int TEXT_LIMIT = 80;

    private ConnectFailure() {}

    /** The reason, where {@code failure} or a cause of it is known; empty for what the transport's own text must say. */
    public static Optional<String> reason(ServerAddress server, @Nullable Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            switch (t) {
                case UnknownHostException unknown -> {
                    return Optional.of(unknownHost(server));
                }
                case UnresolvedAddressException unknown -> {
                    return Optional.of(unknownHost(server));
                }
                case SSLHandshakeException handshake -> {
                    return Optional.of(refusedHandshake(server, handshake));
                }
                case SSLPeerUnverifiedException other -> {
                    return Optional.of(untrusted(server, text(other)));
                }
                case SSLException other -> {
                    return Optional.of("what answers there does not speak TLS (" + text(other)
                            + "): if it answers in plain text, use " + otherUrl(server));
                }
                default -> {
                    // A cause may say more.
                }
            }
        }
        return Optional.empty();
    }

    /** The URL of the same port with TLS, or without where {@code server} has it. */
    public static String otherUrl(ServerAddress server) {
        String plain =
                switch (server.protocol()) {
                    case HTTP, LANE -> "http";
                    case GRPC -> "grpc";
                };
        return url(server, server.tls() ? plain : plain + "s") + server.path();
    }

    /** The URL of the same host and port by another scheme. */
    public static String url(ServerAddress server, String scheme) {
        String host = server.host().indexOf(':') < 0 ? server.host() : '[' + server.host() + ']';
        return scheme + "://" + host + ':' + server.port();
    }

    private static String unknownHost(ServerAddress server) {
        return "the host '" + server.host()
                + "' is unknown: check its spelling, and whether this machine's name service (DNS, /etc/hosts) knows it";
    }

    private static String refusedHandshake(ServerAddress server, SSLHandshakeException failure) {
        Throwable last = failure;
        boolean certificate = false;
        for (Throwable t = failure; t != null; t = t.getCause()) {
            certificate |= t instanceof CertificateException;
            last = t;
        }
        return certificate ? untrusted(server, text(last)) : "the TLS handshake failed: " + text(failure);
    }

    private static String untrusted(ServerAddress server, String why) {
        return "its certificate is not accepted (" + why + "): expected one for '" + server.host()
                + "' by an authority that this client trusts, such as one named by TlsOptions or --tls-ca";
    }

    /** A message, shortened: that of some libraries holds all bytes that came. */
    private static String text(Throwable failure) {
        String text = failure.getMessage();
        if (text == null) {
            return failure.getClass().getSimpleName();
        }
        return text.length() <= TEXT_LIMIT ? text : text.substring(0, TEXT_LIMIT - 3) + "...";
    }
}
