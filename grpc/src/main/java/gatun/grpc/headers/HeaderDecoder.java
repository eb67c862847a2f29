// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.grpc.headers.HeaderBlockReader.RequestHead.UnixSocketAuthority;
import gatun.grpc.headers.HpackStrings.HpackWhitespaceShim;
import gatun.runtime.access.PeerLocation;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;
import org.jspecify.annotations.Nullable;

/** Decodes a connection's header blocks, in the order in which they came. Used by the reading thread only. */
public final class HeaderDecoder {
    /** A header block that spoils its own stream only. */
    public static final class MalformedHeaders extends Exception {
        private static final long serialVersionUID = 1;

        MalformedHeaders(String text) {
            super(text, null, false, false);
        }
    }

    /** A header block that is well formed but larger than a call's metadata may be, or not gRPC's. */
    public static final class RefusedHeaders extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean tooLarge;

        RefusedHeaders(String text, boolean tooLarge) {
            super(text, null, false, false);
            this.tooLarge = tooLarge;
        }

        /** Whether the error is the size. */
        public boolean tooLarge() {
            return tooLarge;
        }
    }

    /** How many times over the limit a block may be and still be decoded, so that only its call fails. */
    private static final int DECODABLE = 4;

    /** Bytes that HTTP/2 counts for a field besides its characters. */
    private static final int FIELD_OVERHEAD = 32;

    private static final Map<String, Metadata.Key<String>> USUAL_KEYS = Stream.of(
                    "content-type", "te", "user-agent", "grpc-accept-encoding", "grpc-timeout", "grpc-encoding")
            .collect(Collectors.toUnmodifiableMap(
                    name -> name, name -> Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)));

    /** Made for the first block, for many connections never have one. */
    private @Nullable HpackDecoder hpack;

    private final NumericFields numbers = new NumericFields();
    private final UnixSocketAuthority authorities = new UnixSocketAuthority();
    private final HpackWhitespaceShim blanks = new HpackWhitespaceShim();
    private final HeaderBlockCache lastBlock = new HeaderBlockCache();
    private final int sizeLimit;

    public HeaderDecoder(int sizeLimit) {
        this.sizeLimit = sizeLimit;
    }

    /** Decodes a block. Throws {@link ConnectionError} when the compression state is lost. */
    RequestHead decode(ByteBuffer block) throws MalformedHeaders, RefusedHeaders {
        Optional<RequestHead> repeated = lastBlock.read(block);
        if (repeated.isPresent()) {
            return repeated.get();
        }
        MetaData fields = decodeFields(block);
        if (!(fields instanceof MetaData.Request request)
                || request.getHttpURI().getPathQuery() == null) {
            throw new MalformedHeaders("a request without method and path");
        }
        RequestHead head = head(request);
        lastBlock.decoded(head);
        return head;
    }

    /** Decodes a block whose content nobody wants, which the compression state needs all the same. */
    void decodeAndForget(ByteBuffer block) {
        try {
            decodeFields(block);
        } catch (MalformedHeaders ignored) {
            // The stream is over: nothing in its block matters any more.
        }
    }

    private MetaData decodeFields(ByteBuffer block) throws MalformedHeaders {
        lastBlock.note(block);
        numbers.require(block);
        try {
            return hpack().decode(blanks.readable(authorities.readable(block)));
        } catch (HpackException.StreamException e) {
            throw new MalformedHeaders(String.valueOf(e.getMessage()));
        } catch (HpackException.SessionException e) {
            throw new ConnectionError(Http2Error.COMPRESSION_ERROR, "header block: " + e.getMessage());
        }
    }

    private HpackDecoder hpack() {
        HpackDecoder present = hpack;
        if (present == null) {
            present = new HpackDecoder(Math.multiplyExact(DECODABLE, sizeLimit), System::nanoTime);
            hpack = present;
        }
        return present;
    }

    private RequestHead head(MetaData.Request request) throws RefusedHeaders {
        Metadata metadata = new Metadata();
        String contentType = "";
        String timeout = "";
        String encoding = "identity";
        String acceptEncoding = "";
        boolean forwarded = false;
        int size = 0;
        for (HttpField field : request.getHttpFields()) {
            String name = field.getLowerCaseName();
            String value = field.getValue() == null ? "" : HpackWhitespaceShim.restored(field.getValue());
            size += name.length() + value.length() + FIELD_OVERHEAD;
            switch (name) {
                case "content-type" -> contentType = value;
                case "grpc-timeout" -> timeout = value;
                case "grpc-encoding" -> encoding = value;
                case "grpc-accept-encoding" -> acceptEncoding = value;
                default -> forwarded |= PeerLocation.isForwarding(name);
            }
            put(metadata, name, value);
        }
        if (size > sizeLimit) {
            throw new RefusedHeaders(
                    "the call's metadata has " + size + " bytes, more than the limit of " + sizeLimit, true);
        }
        String sent = request.getHttpURI().getAuthority();
        String authority = sent == null || UnixSocketAuthority.isStandIn(sent) ? "" : sent;
        return new RequestHead(
                request.getMethod(),
                request.getHttpURI().getPathQuery(),
                authority,
                new RequestHead.Route(hosts(sent, authority, request), forwarded),
                contentType,
                timeout,
                new RequestHead.Compression(encoding, acceptEncoding),
                metadata);
    }

    /** Those of the authority and of fields called {@code host}, which proxies may follow instead. */
    private static List<String> hosts(@Nullable String sent, String authority, MetaData.Request request) {
        List<String> ofAuthority = sent == null ? List.of() : List.of(authority);
        if (!request.getHttpFields().contains(HttpHeader.HOST)) {
            return ofAuthority;
        }
        return Stream.concat(ofAuthority.stream(), request.getHttpFields().getValuesList(HttpHeader.HOST).stream())
                .toList();
    }

    private static void put(Metadata metadata, String name, String value) throws RefusedHeaders {
        Metadata.Key<String> usual = USUAL_KEYS.get(name);
        if (usual != null) {
            metadata.put(usual, value);
            return;
        }
        try {
            if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
                return;
            }
            Metadata.Key<byte[]> key = Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER);
            // A proxy may have joined repeated keys.
            for (String part : value.split(",", -1)) {
                metadata.put(key, Base64.getDecoder().decode(part.strip()));
            }
        } catch (IllegalArgumentException e) {
            throw new RefusedHeaders("metadata '" + name + "' is not as gRPC allows it: " + e.getMessage(), false);
        }
    }

    /**
     * Checks fields that have to be numbers before a block is decoded: Jetty's decoder uses other texts as a format,
     * and {@code %999999999d} would fill the heap. Sees all blocks of a connection, in order. For one thread.
     */
    static final class NumericFields {
        // Where HPACK's static table has the names.
        private static final int FIRST_STATUS = 8;
        private static final int LAST_STATUS = 14;
        private static final int CONTENT_LENGTH = 28;
        private static final int LAST_STATIC = 61;

        /** Numbers of so many digits fit into a long. */
        private static final int MOST_DIGITS = 18;

        private final HpackStrings strings = new HpackStrings();
        private boolean indexed;

        /** Checks a block. Throws {@link ConnectionError} for a numeric field without a number, or a format. */
        void require(ByteBuffer block) {
            ByteBuffer in = block.duplicate();
            while (HpackStrings.skipToLiteral(in)) {
                boolean indexing = HpackStrings.isIndexing(in);
                requireField(in, HpackStrings.nameIndex(in), indexing);
            }
        }

        private void requireField(ByteBuffer in, int nameIndex, boolean indexing) {
            boolean numeric = nameIndex == 0 ? isNumeric(in) : isNumeric(nameIndex);
            indexed |= numeric && indexing;
            if (!numeric && !(indexed && nameIndex > LAST_STATIC)) {
                HpackStrings.skip(in);
                return;
            }
            Optional<String> value = strings.read(in);
            if (value.isEmpty()) {
                return; // malformed, as the decoder will find
            }
            String text = value.get();
            boolean number = !text.isEmpty()
                    && text.length() <= MOST_DIGITS
                    && text.chars().allMatch(c -> c >= '0' && c <= '9');
            if (!number && (numeric || text.indexOf('%') >= 0)) {
                throw new ConnectionError(
                        Http2Error.PROTOCOL_ERROR, "a header of a number has another value: expected digits only");
            }
        }

        private static boolean isNumeric(int nameIndex) {
            return nameIndex == CONTENT_LENGTH || (nameIndex >= FIRST_STATUS && nameIndex <= LAST_STATUS);
        }

        private boolean isNumeric(ByteBuffer in) {
            String name = strings.read(in).orElse("");
            return name.equalsIgnoreCase("content-length") || name.equalsIgnoreCase(":status");
        }
    }

    /**
     * The last header block, if it leaves HPACK's tables (RFC 7541) as they are: the same bytes mean the same until
     * another block comes. Many clients open all calls but the first with them. Used by the reading thread only.
     */
    static final class HeaderBlockCache {
        private static final int MOST_BYTES = 256;

        // Bits of the first byte of a field, from section 6.
        private static final int REFERENCE = 0x80;
        private static final int ENTERS_TABLE = 0x40;
        private static final int NEW_SIZE = 0x20;

        private final byte[] bytes = new byte[MOST_BYTES];
        private int size;
        private Optional<RequestHead> head = Optional.empty();

        /** The remembered head, if {@code block} opens the same call: the very object. Consumes the block then. */
        Optional<RequestHead> read(ByteBuffer block) {
            if (head.isEmpty() || block.remaining() != size) {
                return Optional.empty();
            }
            int begin = block.position();
            for (int i = 0; i < size; i++) {
                if (block.get(begin + i) != bytes[i]) {
                    return Optional.empty();
                }
            }
            block.position(block.limit());
            return head;
        }

        /** Takes note of the bytes of a block that is about to be decoded, which may change the tables. */
        void note(ByteBuffer block) {
            head = Optional.empty();
            size = 0;
            if (block.remaining() <= MOST_BYTES && leavesTables(block.duplicate())) {
                size = block.remaining();
                block.get(block.position(), bytes, 0, size);
            }
        }

        private static boolean leavesTables(ByteBuffer in) {
            while (in.hasRemaining()) {
                int first = in.get(in.position());
                if ((first & REFERENCE) != 0) {
                    HpackStrings.integer(in, 7);
                    continue;
                }
                if ((first & (ENTERS_TABLE | NEW_SIZE)) != 0) {
                    return false;
                }
                if (HpackStrings.integer(in, 4) == 0) {
                    HpackStrings.skip(in);
                }
                HpackStrings.skip(in);
            }
            return true;
        }

        void decoded(RequestHead decoded) {
            if (size > 0) {
                head = Optional.of(decoded);
            }
        }
    }
}
