// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import gatun.stores.client.StoreException.Kind;
import java.nio.charset.StandardCharsets;

/** Names of objects and of archives' entries, as paths of files: what others wrote, and what must not lead elsewhere. */
public final class ObjectPath {
    private static final int PART_BYTES = 255;
    private static final int PATH_BYTES = 2048;
    private static final int DEPTH = 32;
    private static final int SHOWN_CHARACTERS = 100;

    private ObjectPath() {}

    /** Throws {@link StoreException} MALFORMED when a path would leave its folder, or no file can have it. */
    public static void require(String path, String name) throws StoreException {
        requireLength(path);
        String[] parts = path.split("/", -1);
        if (parts.length > DEPTH) {
            throw refusal(name, "is " + parts.length + " folders deep; expected at most " + DEPTH);
        }
        for (String part : parts) {
            requirePart(part, name);
        }
    }

    /** Refuses a name that is too long for a file, before anything else is done with it. */
    public static void requireLength(String name) throws StoreException {
        if (name.length() > PATH_BYTES || name.getBytes(StandardCharsets.UTF_8).length > PATH_BYTES) {
            throw refusal(name, "is longer than a file's path may be, " + PATH_BYTES + " bytes");
        }
    }

    /** The same for a part of a path. */
    public static void requirePart(String part, String name) throws StoreException {
        if (part.isEmpty() || part.equals(".") || part.equals("..")) {
            throw refusal(name, "has an empty part, '.' or '..' in it, which would lead elsewhere");
        }
        if (part.chars().anyMatch(c -> c < ' ' || c == 0x7f) || part.indexOf('\uFFFD') >= 0) {
            throw refusal(name, "has a control character in it, or is no UTF-8");
        }
        if (part.indexOf('/') >= 0 || part.getBytes(StandardCharsets.UTF_8).length > PART_BYTES) {
            throw refusal(name, "has a part of more than " + PART_BYTES + " bytes");
        }
    }

    /** The error for a name. */
    public static StoreException refusal(String name, String why) {
        return new StoreException(Kind.MALFORMED, "'" + printable(name) + "' " + why + "; rename it, or remove it");
    }

    /** The beginning of a name, as errors may show it. */
    public static String printable(String name) {
        boolean cut = name.length() > SHOWN_CHARACTERS;
        return (cut ? name.substring(0, SHOWN_CHARACTERS) : name).replaceAll("\\p{Cntrl}", "?") + (cut ? "..." : "");
    }
}
