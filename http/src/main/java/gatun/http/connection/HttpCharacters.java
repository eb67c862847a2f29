// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/** The characters that parts of a request's head may have. */
final class HttpCharacters {
    private static final boolean[] IN_NAMES = characters("!#$%&'*+-.^_`|~");
    private static final boolean[] IN_PLAIN_PATHS = characters("-._~!$&'()*+,;=:@/");
    private static final boolean[] IN_PLAIN_HOSTS = characters("-._~:[]");
    private static final boolean[] IN_HOSTS = characters("-._~:[]!$%&'()*+;=");

    private HttpCharacters() {}

    /** Whether {@code text} can be a method or the name of a header. */
    static boolean isName(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c < IN_NAMES.length && IN_NAMES[c]);
    }

    /** Whether {@code b} can stand in a method or the name of a header. */
    static boolean isInNames(byte b) {
        return b >= 0 && IN_NAMES[b];
    }

    /** Whether {@code b} can stand in a path that has nothing to decode. */
    static boolean isInPlainPaths(byte b) {
        return b >= 0 && IN_PLAIN_PATHS[b];
    }

    /** Whether {@code b} can stand in the name or the address of a host, with its port. */
    static boolean isInPlainHosts(byte b) {
        return b >= 0 && IN_PLAIN_HOSTS[b];
    }

    /** Whether {@code b} can stand in any host that a URI may name. */
    static boolean isInHosts(byte b) {
        return b >= 0 && IN_HOSTS[b];
    }

    /** Whether {@code c} is a control character that no value of a header may have. */
    static boolean isControl(int c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
    }

    /** Whether {@code b} may stand between a header's colon and its value. */
    static boolean isBlank(byte b) {
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
}
