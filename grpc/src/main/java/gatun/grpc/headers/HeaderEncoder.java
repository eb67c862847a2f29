// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.grpc.frames.FrameEncoder;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackEncoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/** Response header blocks without HPACK's dynamic table, so the usual ones are encoded once. Thread-safe. */
public final class HeaderEncoder {
    /** No block. */
    public static final byte[] NONE = {};

    /** The headers of a response without metadata. */
    public static final byte[] RESPONSE = encode(HttpFields.build().add("content-type", "application/grpc"), true);

    /** The trailers of a success without metadata. */
    static final byte[] OK = encode(HttpFields.build().add("grpc-status", "0"), false);

    /** Bytes of HPACK's longest code for one character, 30 bits. */
    private static final int LARGEST_HUFFMAN_CODE = 4;

    /** More than a field takes besides its characters. */
    private static final int FIXED_SIZE = 32;

    /** Metadata that is HTTP/2's or gRPC's own. */
    private static final Set<String> RESERVED =
            Set.of("content-type", "grpc-status", "grpc-message", "grpc-encoding", "te", "connection");

    private static final Base64.Encoder BASE64 = Base64.getEncoder().withoutPadding();

    private HeaderEncoder() {}

    /** The headers of a response; {@code encoding} is empty for messages that are not compressed. */
    public static byte[] response(Metadata metadata, String encoding) {
        if (encoding.isEmpty() && metadata.keys().isEmpty()) {
            return RESPONSE;
        }
        HttpFields.Mutable fields = HttpFields.build().add("content-type", "application/grpc");
        if (!encoding.isEmpty()) {
            fields.add("grpc-encoding", encoding);
        }
        return encode(add(fields, metadata), true);
    }

    /** The trailers after a response. */
    public static byte[] trailers(Status status, Metadata metadata) {
        if (status.isOk() && status.getDescription() == null && metadata.keys().isEmpty()) {
            return OK;
        }
        return encode(add(addStatus(HttpFields.build(), status), metadata), false);
    }

    /** Headers and trailers in one block, for a call that has no response. */
    public static byte[] trailersOnly(Status status, Metadata metadata) {
        HttpFields.Mutable fields = HttpFields.build().add("content-type", "application/grpc");
        return encode(add(addStatus(fields, status), metadata), true);
    }

    /** The response to something that is not gRPC: an HTTP status, with a gRPC one for whoever reads that. */
    public static byte[] refusal(int httpStatus, Status status) {
        HttpFields.Mutable fields = HttpFields.build().add("content-type", "application/grpc");
        return encode(addStatus(fields, status), httpStatus);
    }

    private static HttpFields.Mutable addStatus(HttpFields.Mutable fields, Status status) {
        fields.add("grpc-status", Integer.toString(status.getCode().value()));
        String text = status.getDescription();
        if (text != null) {
            fields.add("grpc-message", PercentEncoding.encode(text));
        }
        return fields;
    }

    private static HttpFields.Mutable add(HttpFields.Mutable fields, Metadata metadata) {
        for (String name : metadata.keys()) {
            if (RESERVED.contains(name)) {
                continue;
            }
            if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                Iterable<byte[]> values = metadata.getAll(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER));
                if (values != null) {
                    values.forEach(value -> fields.add(name, BASE64.encodeToString(value)));
                }
            } else {
                Iterable<String> values = metadata.getAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
                if (values != null) {
                    // gRPC leaves blanks at the ends to the transport, and HTTP/2 forbids them.
                    values.forEach(value -> fields.add(name, value.strip()));
                }
            }
        }
        return fields;
    }

    private static byte[] encode(HttpFields fields, boolean withStatus) {
        return encode(fields, withStatus ? 200 : 0);
    }

    private static byte[] encode(HttpFields fields, int httpStatus) {
        MetaData block = httpStatus == 0
                ? new MetaData(HttpVersion.HTTP_2, fields)
                : new MetaData.Response(httpStatus, null, HttpVersion.HTTP_2, fields);
        ByteBuffer target = ByteBuffer.allocate(largestSize(fields));
        try {
            HpackEncoder encoder = new HpackEncoder();
            encoder.setMaxTableCapacity(0);
            encoder.setTableCapacity(0);
            // The client limits the size of headers; a block beyond one frame continues in further frames.
            encoder.setMaxHeaderListSize(Integer.MAX_VALUE);
            encoder.encode(target, block);
        } catch (HpackException e) {
            throw new IllegalArgumentException("metadata that HTTP/2 cannot carry: " + e.getMessage(), e);
        }
        // The encoder begins with it, which the connection writes once by itself.
        int start = target.get(0) == FrameEncoder.TABLE_SIZE_ZERO ? 1 : 0;
        byte[] bytes = new byte[target.position() - start];
        target.get(start, bytes);
        return bytes;
    }

    private static int largestSize(HttpFields fields) {
        int size = FIXED_SIZE;
        for (HttpField field : fields) {
            int length = field.getName().length()
                    + (field.getValue() == null ? 0 : field.getValue().length());
            size += FIXED_SIZE + LARGEST_HUFFMAN_CODE * length;
        }
        return size;
    }

    /** A status text as gRPC's header has it: UTF-8, with all but printable ASCII, percent and outer blanks escaped. */
    public static final class PercentEncoding {
        /** Clients commonly take 8 KiB of headers, and each byte may become three. */
        private static final int MAX_BYTES = 2048;

        private static final String ELLIPSIS = "...";

        // The bytes of a character in UTF-8 but for the first.
        private static final int CONTINUATION_MASK = 0xc0;
        private static final int CONTINUATION = 0x80;
        private static final String DIGITS = "0123456789ABCDEF";

        private PercentEncoding() {}

        /** The text as {@code grpc-message} carries it; cut where it is longer than clients take a header. */
        public static String encode(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            if (bytes.length > MAX_BYTES) {
                return encode(cut(bytes));
            }
            int escaped = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (mustEscape(bytes, i)) {
                    escaped++;
                }
            }
            if (escaped == 0) {
                return text;
            }
            StringBuilder encoded = new StringBuilder(bytes.length + 2 * escaped);
            for (int i = 0; i < bytes.length; i++) {
                byte b = bytes[i];
                if (mustEscape(bytes, i)) {
                    encoded.append('%').append(DIGITS.charAt(b >> 4 & 0xf)).append(DIGITS.charAt(b & 0xf));
                } else {
                    encoded.append((char) b);
                }
            }
            return encoded.toString();
        }

        private static String cut(byte[] bytes) {
            int end = MAX_BYTES - ELLIPSIS.length();
            while ((bytes[end] & CONTINUATION_MASK) == CONTINUATION) {
                end--;
            }
            return new String(bytes, 0, end, StandardCharsets.UTF_8) + ELLIPSIS;
        }

        private static boolean mustEscape(byte[] text, int index) {
            byte b = text[index];
            if (b == ' ') {
                // HTTP/2 allows a header neither to begin nor to end with a blank.
                return index == 0 || index == text.length - 1;
            }
            return b < ' ' || b > '~' || b == '%';
        }
    }
}
