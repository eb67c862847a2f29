// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.calls.CallServices.ServiceTable;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.grpc.headers.HeaderEncoder;
import gatun.grpc.streams.GrpcStream;
import gatun.grpc.streams.InboundMessage.Placement;
import gatun.listener.GzipInput;
import gatun.runtime.access.HostNames;
import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.CompressorRegistry;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/** Decides whether a header block opens a call, and which. Immutable. */
public final class CallAdmission {
    /** The header block opens no call; it is answered with another, which ends the stream. */
    public static final class RefusedCall extends Exception {
        private static final long serialVersionUID = 1;

        private final transient byte[] answer;
        private final Status.Code code;

        private RefusedCall(Status.Code code, byte[] answer) {
            super("", null, false, false);
            this.code = code;
            this.answer = answer;
        }

        /** What the answer says is wrong. */
        public Status.Code code() {
            return code;
        }

        /** The answering block. */
        public byte[] answer() {
            return answer;
        }
    }

    private static final String CONTENT_TYPE = "application/grpc";
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNSUPPORTED_MEDIA_TYPE = 415;

    /** The most characters of a client's own words that a response repeats. */
    private static final int QUOTE_LENGTH = 200;

    private final ServiceTable table;

    public CallAdmission(ServiceTable table) {
        this.table = table;
    }

    /** The call that a block opens; {@code last}, the connection's last call or null, where the head is the same. */
    @SuppressWarnings("ReferenceEquality") // to compare the fields of two takes longer than to open a call
    public CallOpening<?, ?> admit(RequestHead head, CallServices services, @Nullable CallOpening<?, ?> last)
            throws RefusedCall {
        Optional<String> foreignHost = services.hosts().foreignHost(head);
        if (foreignHost.isPresent()) {
            throw refuse(Status.PERMISSION_DENIED, HostNames.refusal(foreignHost.get()));
        }
        CallOpening<?, ?> opening = last != null && head == last.head() ? last : opening(head, services);
        requireAllowed(opening);
        return opening;
    }

    private static void requireAllowed(CallOpening<?, ?> opening) throws RefusedCall {
        if (opening.method().getServerCallHandler() instanceof GuardedCallHandler<?, ?> guarded) {
            Optional<Status> refusal = guarded.refusal(opening.head().metadata());
            if (refusal.isPresent()) {
                throw new RefusedCall(
                        refusal.get().getCode(), HeaderEncoder.trailersOnly(refusal.get(), new Metadata()));
            }
        }
    }

    private CallOpening<?, ?> opening(RequestHead head, CallServices services) throws RefusedCall {
        if (!head.method().equals("POST")) {
            throw new RefusedCall(
                    Status.Code.INTERNAL,
                    HeaderEncoder.refusal(
                            METHOD_NOT_ALLOWED,
                            Status.INTERNAL.withDescription(
                                    "the HTTP method is " + quote(head.method()) + " and must be POST")));
        }
        if (!isGrpc(head.contentType())) {
            throw new RefusedCall(
                    Status.Code.INTERNAL,
                    HeaderEncoder.refusal(
                            UNSUPPORTED_MEDIA_TYPE,
                            Status.INTERNAL.withDescription("the content-type is '" + quote(head.contentType())
                                    + "' and must be " + CONTENT_TYPE + " or begin with " + CONTENT_TYPE + "+ or "
                                    + CONTENT_TYPE + ";")));
        }
        Optional<ServerMethodDefinition<?, ?>> method = table.find(head.path());
        if (method.isEmpty()) {
            throw refuse(
                    Status.UNIMPLEMENTED,
                    "Method not found: " + quote(head.path().substring(1)));
        }
        String encoding = head.compression().encoding();
        Optional<Decompressor> decompressor = Encodings.decompressor(encoding);
        if (decompressor.isEmpty()) {
            Metadata accepted = new Metadata();
            accepted.put(Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER), Encodings.ALL);
            Status status = Status.UNIMPLEMENTED.withDescription(
                    "the grpc-encoding '" + quote(encoding) + "' is not known here");
            throw new RefusedCall(status.getCode(), HeaderEncoder.trailersOnly(status, accepted));
        }
        OptionalLong timeout = OptionalLong.empty();
        if (!head.timeout().isEmpty()) {
            timeout = CallTimeout.parseNanos(head.timeout());
            if (timeout.isEmpty()) {
                throw refuse(
                        Status.INVALID_ARGUMENT,
                        "the grpc-timeout '" + quote(head.timeout())
                                + "' must be up to 8 digits and one of H, M, S, m, u, n");
            }
        }
        return new CallOpening<>(method.get(), head, decompressor.get(), timeout, services);
    }

    /** The response to a call that our limits refuse. */
    public static byte[] answer(Status status, String text) {
        return HeaderEncoder.trailersOnly(status.withDescription(text), new Metadata());
    }

    private static RefusedCall refuse(Status status, String text) {
        return new RefusedCall(status.getCode(), answer(status, text));
    }

    private static boolean isGrpc(String contentType) {
        String lower = contentType.toLowerCase(Locale.ROOT);
        return lower.equals(CONTENT_TYPE)
                || lower.startsWith(CONTENT_TYPE + "+")
                || lower.startsWith(CONTENT_TYPE + ";");
    }

    private static String quote(String text) {
        return text.length() <= QUOTE_LENGTH ? text : text.substring(0, QUOTE_LENGTH) + "...";
    }

    /** The {@code grpc-timeout} header: up to eight digits and a unit. */
    public static final class CallTimeout {
        private static final int MAX_DIGITS = 8;

        private CallTimeout() {}

        /** The time in nanoseconds, at most {@link Long#MAX_VALUE}; empty when the text is not a timeout. */
        public static OptionalLong parseNanos(String text) {
            int digits = text.length() - 1;
            if (digits < 1 || digits > MAX_DIGITS) {
                return OptionalLong.empty();
            }
            long amount = 0;
            for (int i = 0; i < digits; i++) {
                char c = text.charAt(i);
                if (c < '0' || c > '9') {
                    return OptionalLong.empty();
                }
                amount = 10 * amount + (c - '0');
            }
            return switch (text.charAt(digits)) {
                case 'H' -> OptionalLong.of(TimeUnit.HOURS.toNanos(amount));
                case 'M' -> OptionalLong.of(TimeUnit.MINUTES.toNanos(amount));
                case 'S' -> OptionalLong.of(TimeUnit.SECONDS.toNanos(amount));
                case 'm' -> OptionalLong.of(TimeUnit.MILLISECONDS.toNanos(amount));
                case 'u' -> OptionalLong.of(TimeUnit.MICROSECONDS.toNanos(amount));
                case 'n' -> OptionalLong.of(amount);
                default -> OptionalLong.empty();
            };
        }
    }

    /** A call that is all right and about to begin, or several of a connection in turn; no timeout means for ever. */
    public record CallOpening<Q, R>(
            ServerMethodDefinition<Q, R> method,
            RequestHead head,
            Decompressor decompressor,
            OptionalLong timeoutNanos,
            CallServices services)
            implements GrpcStream.CallFactory {
        private static final Placement AT_THE_START = (start, byteSize) -> 0;

        @Override
        public Placement placement() {
            MethodDescriptor.Marshaller<Q> marshaller =
                    method.getMethodDescriptor().getRequestMarshaller();
            return marshaller instanceof Placement placement ? placement : AT_THE_START;
        }

        /** Whether the call asks for one inference: only those have messages that are placed. */
        boolean isInference() {
            MethodDescriptor<Q, R> descriptor = method.getMethodDescriptor();
            return descriptor.getType() == MethodDescriptor.MethodType.UNARY
                    && descriptor.getRequestMarshaller() instanceof Placement;
        }

        Context.CancellableContext newContext() {
            Context root = services.root(head);
            if (timeoutNanos.isEmpty()) {
                return root.withCancellation();
            }
            Deadline deadline = Deadline.after(timeoutNanos.getAsLong(), TimeUnit.NANOSECONDS);
            return root.withDeadline(deadline, services.timer().executor());
        }

        /** The server's text for a deadline, which is the client's own: either may be first, and users match on it. */
        String overdue() {
            double seconds = timeoutNanos.orElseThrow() / 1e9;
            return "CallOptions deadline exceeded after " + seconds + "s. [the server ended the call]";
        }

        @Override
        public GrpcCall<Q, R> open(GrpcStream stream) {
            return new GrpcCall<>(this, stream);
        }
    }

    /** The encodings of messages that are known here: identity, gzip and deflate, both ways. */
    public static final class Encodings {
        /** All of them, as {@code grpc-accept-encoding} lists them. */
        public static final String ALL = "identity,deflate,gzip";

        private static final CompressorRegistry COMPRESSORS = CompressorRegistry.newEmptyInstance();
        private static final DecompressorRegistry DECOMPRESSORS = DecompressorRegistry.emptyInstance()
                .with(Codec.Identity.NONE, false)
                .with(new Gzip(), true)
                .with(new Deflate(), true);

        static {
            COMPRESSORS.register(Codec.Identity.NONE);
            COMPRESSORS.register(new Gzip());
            COMPRESSORS.register(new Deflate());
        }

        private Encodings() {}

        /** The encodings that {@code grpc-accept-encoding} names. */
        public static List<String> list(String acceptEncoding) {
            return Arrays.stream(acceptEncoding.split(",", -1))
                    .map(String::strip)
                    .toList();
        }

        /** The compressor for {@code encoding}; empty when it is not known. */
        public static Optional<Compressor> compressor(String encoding) {
            return Optional.ofNullable(COMPRESSORS.lookupCompressor(encoding));
        }

        /** The decompressor for {@code encoding}; empty when it is not known. */
        public static Optional<Decompressor> decompressor(String encoding) {
            return Optional.ofNullable(DECOMPRESSORS.lookupDecompressor(encoding));
        }

        /** gRPC's {@code deflate}: the zlib format. Without state. */
        static final class Deflate implements Codec {
            @Override
            public String getMessageEncoding() {
                return "deflate";
            }

            @Override
            public OutputStream compress(OutputStream target) {
                return new DeflaterOutputStream(target);
            }

            @Override
            public InputStream decompress(InputStream source) {
                return new InflaterInputStream(source);
            }
        }

        /** gRPC's {@code gzip}, whose input may have any number of members. Without state. */
        static final class Gzip implements Codec {
            private static final int PIECE = 8 * 1024;

            @Override
            public String getMessageEncoding() {
                return "gzip";
            }

            @Override
            public OutputStream compress(OutputStream target) throws IOException {
                return new GZIPOutputStream(target);
            }

            @Override
            public InputStream decompress(InputStream source) throws IOException {
                return new GzipInput(source, PIECE);
            }
        }
    }
}
