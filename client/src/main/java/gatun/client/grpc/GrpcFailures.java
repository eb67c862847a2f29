// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientException;
import gatun.client.MalformedResponseException;
import gatun.client.ServerAddress;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import gatun.client.calls.ConnectFailure;
import gatun.client.calls.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Turns gRPC's statuses into the client's exceptions: the one place that knows them. Stateless. */
final class GrpcFailures {
    /** A header that only a server's response has. */
    private static final Metadata.Key<String> CONTENT_TYPE =
            Metadata.Key.of("content-type", Metadata.ASCII_STRING_MARSHALLER);

    /** How the transport's own texts begin where it gives no cause. */
    private static final List<String> TRANSPORT_TEXTS = List.of(
            "Network closed",
            "Connection closed",
            "Channel shutdown",
            "HTTP/2 error code",
            "RST_STREAM closed stream",
            "io exception",
            "Unable to resolve host",
            "Transport stopped",
            "transport was");

    /** The failures of connections that were never established. */
    private static final List<Class<? extends Exception>> NOT_CONNECTED = List.of(
            ConnectException.class,
            NoRouteToHostException.class,
            UnknownHostException.class,
            UnresolvedAddressException.class,
            FileNotFoundException.class,
            SSLException.class);

    private GrpcFailures() {}

    /** A {@link ClientException}, or {@link IllegalStateException} for a fault of the caller. */
    static RuntimeException of(
            Status status, boolean headers, Metadata trailers, Deadline deadline, String what, String address) {
        String text = Objects.requireNonNullElse(status.getDescription(), "");
        Throwable cause = status.getCause();
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof MalformedResponseException) {
                return new MalformedResponseException(what + " of " + address + ": " + t.getMessage(), t);
            }
            if (t instanceof UnusableMemoryException) {
                return new IllegalStateException(what + " of " + address + ": " + t.getMessage(), t);
            }
        }
        if (status.getCode() == Status.Code.DEADLINE_EXCEEDED && deadline.isSet()) {
            return deadline.exceeded(what, address);
        }
        boolean ofServer = cause == null && (headers || trailers.containsKey(CONTENT_TYPE)) && !isOfTransport(text);
        if (ofServer) {
            return new ServerException(code(status.getCode()), status.getCode().value(), text);
        }
        return switch (status.getCode()) {
            case UNAVAILABLE, UNKNOWN, INTERNAL, CANCELLED ->
                unreachable(
                        what + " of " + address + " failed: " + reason(address, status, text),
                        status,
                        neverConnected(cause, text));
            // The library's own judgement of a response or a request, such as a message that is too large.
            case OK,
                    INVALID_ARGUMENT,
                    DEADLINE_EXCEEDED,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    PERMISSION_DENIED,
                    RESOURCE_EXHAUSTED,
                    FAILED_PRECONDITION,
                    ABORTED,
                    OUT_OF_RANGE,
                    UNIMPLEMENTED,
                    DATA_LOSS,
                    UNAUTHENTICATED ->
                new ServerException(code(status.getCode()), status.getCode().value(), text);
        };
    }

    static StatusCode code(Status.Code code) {
        return switch (code) {
            case OK, UNKNOWN -> StatusCode.UNKNOWN;
            case CANCELLED -> StatusCode.CANCELLED;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> StatusCode.INVALID_ARGUMENT;
            case DEADLINE_EXCEEDED -> StatusCode.DEADLINE_EXCEEDED;
            case NOT_FOUND -> StatusCode.NOT_FOUND;
            case ALREADY_EXISTS -> StatusCode.ALREADY_EXISTS;
            case PERMISSION_DENIED -> StatusCode.PERMISSION_DENIED;
            case RESOURCE_EXHAUSTED -> StatusCode.RESOURCE_EXHAUSTED;
            case FAILED_PRECONDITION, ABORTED -> StatusCode.FAILED_PRECONDITION;
            case UNIMPLEMENTED -> StatusCode.UNIMPLEMENTED;
            case INTERNAL, DATA_LOSS -> StatusCode.INTERNAL;
            case UNAVAILABLE -> StatusCode.UNAVAILABLE;
            case UNAUTHENTICATED -> StatusCode.UNAUTHENTICATED;
        };
    }

    private static UnreachableException unreachable(String text, Status status, boolean neverConnected) {
        return new UnreachableException(text, status.asException(), !neverConnected);
    }

    private static boolean isOfTransport(String text) {
        for (String beginning : TRANSPORT_TEXTS) {
            if (text.startsWith(beginning)) {
                return true;
            }
        }
        return false;
    }

    private static boolean neverConnected(@Nullable Throwable cause, String text) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            for (Class<? extends Exception> kind : NOT_CONNECTED) {
                if (kind.isInstance(t)) {
                    return true;
                }
            }
        }
        return text.startsWith("Unable to resolve host");
    }

    private static String reason(String address, Status status, String text) {
        ServerAddress server = ServerAddress.parse(address);
        Throwable cause = status.getCause();
        Optional<String> known = ConnectFailure.reason(server, cause);
        if (known.isPresent()) {
            return known.get();
        }
        String told = told(text, cause);
        // A fault in the other side's frames, which the transport itself found.
        boolean isForeign =
                status.getCode() == Status.Code.INTERNAL && cause != null && !server.tls() && !server.isUnix();
        return isForeign
                ? told + "; if TLS is spoken there, use " + ConnectFailure.otherUrl(server) + ", and "
                        + ConnectFailure.url(server, "http") + " if HTTP is"
                : told;
    }

    private static String told(String text, @Nullable Throwable cause) {
        if (cause == null || cause.getMessage() == null || text.contains(cause.getMessage())) {
            return text.isEmpty() ? "the connection broke" : text;
        }
        return text.isEmpty() ? cause.getMessage() : text + ": " + cause.getMessage();
    }

    /** The caller's memory was freed while it was sent, or a response found none: unknown to gRPC. */
    static final class UnusableMemoryException extends IllegalStateException {
        private static final long serialVersionUID = 1;

        UnusableMemoryException(IllegalStateException cause) {
            super(cause.getMessage(), cause);
        }
    }
}
