package gatun.runtime;

import java.util.List;

/**
 * What the server says of itself.
 *
 * @param name the server's id
 * @param version the version of Gatun
 * @param extensions the extensions of the v2 protocol that it serves
 */
public record ServerMetadata(String name, String version, List<String> extensions) {
    /** The id of a server that its operator gave none. */
    public static final String STANDARD_NAME = "triton";
}
