// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.Method;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A request whose head is read where it lies, if it is of the plain kind that nearly all are: GET or POST of HTTP/1.1,
 * its head all there, a path without anything to decode or to resolve, a host, at most an announced length for a body,
 * and nothing asked of the connection but that it stays open. Any other head, malformed ones included, is not read
 * further and left to Helidon. One object serves one request after the other. For the connection's thread.
 */
final class DirectRequest implements IncomingRequest {
    private static final int MOST_HEADERS = 32;
    private static final int PLACES = 4;

    /** Up to so many digits a length is no larger than a long. */
    private static final int LENGTH_DIGITS = 18;

    private static final byte[] GET = ascii("GET ");
    private static final byte[] POST = ascii("POST ");
    private static final byte[] VERSION = ascii(" HTTP/1.1\r\n");
    private static final boolean[] IN_PATHS = characters("-._~!$&'()*+,;=:@/");
    private static final boolean[] IN_HOSTS = characters("-._~:[]");
    private static final boolean[] IN_NAMES = characters("!#$%&'*+-.^_`|~");

    /** Headers about the connection or the bytes that follow: a request with any of them is not plain. */
    private static final String[] NOT_PLAIN = {
        "transfer-encoding", "expect", "upgrade", "http2-settings", "trailer", "te", "x-helidon-cn"
    };

    private byte[] bytes = {};
    private Method method = Method.GET;
    private int pathBegin;
    private int pathEnd;
    private String lastPath = "";
    private int headEnd;

    /** Of each header where its name begins and ends, and its value. */
    private final int[] places = new int[PLACES * MOST_HEADERS];

    private int headerCount;

    /** The number of the Host header. */
    private int hostHeader;

    private long announcedByteSize;
    private boolean bodyConsumed;

    /** Reads the head that begins at {@code begin}; false when it is not plain, or not all there before {@code end}. */
    boolean read(byte[] source, int begin, int end) {
        bytes = source;
        headerCount = 0;
        announcedByteSize = 0;
        int at = requestLine(begin, end);
        while (at >= 0 && at + 1 < end && bytes[at] != '\r') {
            at = header(at, end);
        }
        if (at < 0 || at + 1 >= end || bytes[at + 1] != '\n') {
            return false;
        }
        headEnd = at + 2;
        return isPlain();
    }

    /** Where the head ends, and what follows it begins. */
    int headEnd() {
        return headEnd;
    }

    /** Where the line ends, or -1. */
    private int requestLine(int begin, int end) {
        if (begins(GET, begin, end)) {
            method = Method.GET;
            pathBegin = begin + GET.length;
        } else if (begins(POST, begin, end)) {
            method = Method.POST;
            pathBegin = begin + POST.length;
        } else {
            return -1;
        }
        int at = pathBegin;
        byte before = 0;
        while (at < end && isIn(IN_PATHS, bytes[at])) {
            if (before == '/' && (bytes[at] == '/' || bytes[at] == '.')) {
                return -1;
            }
            before = bytes[at++];
        }
        pathEnd = at;
        boolean whole = pathEnd > pathBegin && bytes[pathBegin] == '/' && begins(VERSION, at, end);
        return whole ? at + VERSION.length : -1;
    }

    /** Notes the header that begins at {@code begin}, and returns where the next begins, or -1. */
    private int header(int begin, int end) {
        int nameEnd = begin;
        while (nameEnd < end && isIn(IN_NAMES, bytes[nameEnd])) {
            nameEnd++;
        }
        if (headerCount == MOST_HEADERS || nameEnd == begin || nameEnd >= end || bytes[nameEnd] != ':') {
            return -1;
        }
        int valueBegin = nameEnd + 1;
        while (valueBegin < end && isBlank(bytes[valueBegin])) {
            valueBegin++;
        }
        int lineEnd = valueBegin;
        while (lineEnd < end && isText(bytes[lineEnd])) {
            lineEnd++;
        }
        if (lineEnd + 1 >= end || bytes[lineEnd] != '\r' || bytes[lineEnd + 1] != '\n') {
            return -1;
        }
        int valueEnd = lineEnd;
        while (valueEnd > valueBegin && isBlank(bytes[valueEnd - 1])) {
            valueEnd--;
        }
        int place = PLACES * headerCount++;
        places[place] = begin;
        places[place + 1] = nameEnd;
        places[place + 2] = valueBegin;
        places[place + 3] = valueEnd;
        return lineEnd + 2;
    }

    private boolean isPlain() {
        int lengths = 0;
        int hosts = 0;
        for (int header = 0; header < headerCount; header++) {
            if (isNamed(header, "content-length")) {
                announcedByteSize = length(header);
                lengths++;
            } else if (isNamed(header, "host")) {
                if (!isHost(header)) {
                    return false;
                }
                hostHeader = header;
                hosts++;
            } else if (isNamed(header, "connection")) {
                if (!reads(places[PLACES * header + 2], places[PLACES * header + 3], "keep-alive")) {
                    return false;
                }
            } else {
                for (String name : NOT_PLAIN) {
                    if (isNamed(header, name)) {
                        return false;
                    }
                }
            }
        }
        bodyConsumed = announcedByteSize == 0;
        return lengths <= 1 && hosts == 1 && announcedByteSize >= 0;
    }

    private boolean isHost(int header) {
        for (int at = places[PLACES * header + 2]; at < places[PLACES * header + 3]; at++) {
            if (!isIn(IN_HOSTS, bytes[at])) {
                return false;
            }
        }
        return true;
    }

    /** The number that is the header's value, or -1. */
    private long length(int header) {
        int begin = places[PLACES * header + 2];
        int end = places[PLACES * header + 3];
        if (begin == end || end - begin > LENGTH_DIGITS) {
            return -1;
        }
        long length = 0;
        for (int at = begin; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            length = 10 * length + digit;
        }
        return length;
    }

    @Override
    public Method method() {
        return method;
    }

    /** Mostly that of the request before, which is not made again then. */
    @Override
    public String path() {
        if (isPath(lastPath)) {
            return lastPath;
        }
        String path = text(pathBegin, pathEnd);
        if (path.length() <= LastRoute.MOST_CHARS) {
            lastPath = path;
        }
        return path;
    }

    private boolean isPath(String text) {
        if (pathEnd - pathBegin != text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (bytes[pathBegin + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String query() {
        // A path with a query is not plain.
        return "";
    }

    @Override
    public Optional<String> first(HeaderName name) {
        int header = indexOf(name.lowerCase());
        return header < 0 ? Optional.empty() : Optional.of(value(header));
    }

    @Override
    public boolean isFor(String lowerCase) {
        return reads(places[PLACES * hostHeader + 2], places[PLACES * hostHeader + 3], lowerCase);
    }

    @Override
    public boolean has(HeaderName name) {
        return indexOf(name.lowerCase()) >= 0;
    }

    @Override
    public void eachHeader(BiConsumer<String, String> reader) {
        for (int header = 0; header < headerCount; header++) {
            String name = text(places[PLACES * header], places[PLACES * header + 1]);
            if (indexOf(name.toLowerCase(Locale.ROOT)) == header) {
                reader.accept(name, value(header));
            }
        }
    }

    @Override
    public boolean closes() {
        return false;
    }

    @Override
    public long announcedByteSize() {
        return announcedByteSize;
    }

    @Override
    public void beginBody() {
        // The client sends it without being asked.
    }

    @Override
    public void endBody() {
        bodyConsumed = true;
    }

    @Override
    public boolean bodyConsumed() {
        return bodyConsumed;
    }

    private int indexOf(String lowerCase) {
        for (int header = 0; header < headerCount; header++) {
            if (isNamed(header, lowerCase)) {
                return header;
            }
        }
        return -1;
    }

    private boolean isNamed(int header, String lowerCase) {
        return reads(places[PLACES * header], places[PLACES * header + 1], lowerCase);
    }

    private boolean reads(int begin, int end, String lowerCase) {
        if (end - begin != lowerCase.length()) {
            return false;
        }
        for (int i = 0; i < lowerCase.length(); i++) {
            byte b = bytes[begin + i];
            if ((b >= 'A' && b <= 'Z' ? b | 0x20 : b) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private String value(int header) {
        return text(places[PLACES * header + 2], places[PLACES * header + 3]);
    }

    private String text(int begin, int end) {
        return new String(bytes, begin, end - begin, StandardCharsets.ISO_8859_1);
    }

    private boolean begins(byte[] prefix, int begin, int end) {
        if (end - begin < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (bytes[begin + i] != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether {@code text} can be the name of a header. */
    static boolean isName(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c < IN_NAMES.length && IN_NAMES[c]);
    }

    /** Whether {@code b} can stand in the name of a header. */
    static boolean isInNames(byte b) {
        return isIn(IN_NAMES, b);
    }

    private static boolean isIn(boolean[] characters, byte b) {
        return b >= 0 && characters[b];
    }

    private static boolean isText(byte b) {
        return b == '\t' || (b >= ' ' && b < 0x7f);
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    /** Letters, digits and {@code others}. */
    private static boolean[] characters(String others) {
        boolean[] characters = new boolean[128];
        for (char c = 0; c < 128; c++) {
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            characters[c] = letter || (c >= '0' && c <= '9') || others.indexOf(c) >= 0;
        }
        return characters;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
