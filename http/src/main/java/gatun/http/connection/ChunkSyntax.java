// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.tensor.GatunException;
import java.util.Locale;
import java.util.Set;

/** Chunk sizes, extensions and trailers of a body; refuses what proxies may read differently. Not thread-safe. */
final class ChunkSyntax {
    static final int MAX_LINE_BYTES = 1024;

    /** The most characters of all extensions of a body. */
    private static final int MAX_EXTENSIONS = 16 * 1024;

    private static final int MAX_TRAILERS = 64;
    private static final int MAX_DIGITS = 8;

    /** Fields that say where a request ends, for whom it is and who sends it: never in a trailer. */
    private static final Set<String> NO_TRAILERS = Set.of(
            "authorization",
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "expect",
            "host",
            "te",
            "transfer-encoding",
            "upgrade");

    private int extensions;
    private int trailers;

    /** The bytes of the chunk that {@code line} begins; 0 for the last. Throws INVALID_ARGUMENT if malformed. */
    int byteSize(String line) {
        int end = line.indexOf(';');
        String digits = end < 0 ? line : line.substring(0, end);
        requireExtension(line.length() - digits.length());
        requireText(line);
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c < 0x80 && Character.digit(c, 16) >= 0)) {
            throw malformed("the size of a chunk is '" + digits + "': expected hexadecimal digits");
        }
        int byteSize = digits.length() > MAX_DIGITS ? -1 : Integer.parseUnsignedInt(digits, 16);
        if (byteSize < 0) {
            throw malformed("the size of a chunk is '" + digits + "': expected less than 80000000");
        }
        return byteSize;
    }

    private void requireExtension(int length) {
        extensions += length;
        if (extensions > MAX_EXTENSIONS) {
            throw malformed("the extensions of its chunks have more than " + MAX_EXTENSIONS + " bytes");
        }
    }

    /** Checks a line after the last chunk, without meaning here. Throws INVALID_ARGUMENT if malformed or too many. */
    void trailer(String line) {
        if (++trailers > MAX_TRAILERS) {
            throw malformed("more than " + MAX_TRAILERS + " lines after the last chunk");
        }
        requireText(line);
        int colon = line.indexOf(':');
        String name = colon < 0 ? "" : line.substring(0, colon);
        if (!HttpCharacters.isName(name)) {
            throw malformed("a line after the last chunk is no header");
        }
        if (NO_TRAILERS.contains(name.toLowerCase(Locale.ROOT))) {
            throw malformed("'" + name + "' may not follow the last chunk");
        }
    }

    private static void requireText(String line) {
        if (line.chars().anyMatch(HttpCharacters::isControl)) {
            throw malformed("a line among the chunks has a control character");
        }
    }

    static GatunException malformed(String what) {
        return GatunException.invalidArgument("malformed chunked request body: " + what);
    }

    /** The characters that parts of a request's head may have. */
    static final class HttpCharacters {
        private static final boolean[] IN_NAMES = characters("!#$%&'*+-.^_`|~");
        private static final boolean[] IN_PLAIN_PATHS = characters("-._~!$&'()*+,;=:@/");
        private static final boolean[] IN_PLAIN_HOSTS = characters("-._~:[]");
        private static final boolean[] IN_HOSTS = characters("-._~:[]!$%&'()*+;=");

        private HttpCharacters() {}

        static boolean isName(String text) {
            return !text.isEmpty() && text.chars().allMatch(c -> c < IN_NAMES.length && IN_NAMES[c]);
        }

        static boolean isInNames(byte b) {
            return b >= 0 && IN_NAMES[b];
        }

        static boolean isInPlainPaths(byte b) {
            return b >= 0 && IN_PLAIN_PATHS[b];
        }

        static boolean isInPlainHosts(byte b) {
            return b >= 0 && IN_PLAIN_HOSTS[b];
        }

        static boolean isInHosts(byte b) {
            return b >= 0 && IN_HOSTS[b];
        }

        static boolean isControl(int c) {
            return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
        }

        /** Whether {@code b} may stand between a header's colon and its value. */
        static boolean isBlank(byte b) {
            return b == ' ' || b == '\t';
        }

        private static boolean[] characters(String others) {
            boolean[] characters = new boolean[128];
            for (char c = 0; c < 128; c++) {
                boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                characters[c] = letter || (c >= '0' && c <= '9') || others.indexOf(c) >= 0;
            }
            return characters;
        }
    }
}
