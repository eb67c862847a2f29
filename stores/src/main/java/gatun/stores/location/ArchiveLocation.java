// SPDX-License-Identifier: Apache-2.0
package gatun.stores.location;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An archive of a repository or of one model. {@code #sha256=HEX} behind the URL says what the file has to be.
 *
 * @param uri where the file is: https, http or file; without the fragment
 * @param format how it is packed
 * @param sha256 the SHA-256 that its bytes must have, in hexadecimal; empty for any
 */
public record ArchiveLocation(URI uri, Format format, Optional<String> sha256) implements RepositoryLocation {
    private static final Pattern SHA256 = Pattern.compile("sha256=([0-9a-fA-F]{64})");

    /** How archives are packed. */
    public enum Format {
        /** A tar file that gzip compressed. */
        TAR_GZ(".tar.gz .tgz"),
        /** A tar file. */
        TAR(".tar"),
        /** A zip file. */
        ZIP(".zip");

        private final String endings;

        Format(String endings) {
            this.endings = endings;
        }

        private Optional<String> nameWithout(String file) {
            return Arrays.stream(endings.split(" ", -1))
                    .filter(ending -> file.toLowerCase(Locale.ROOT).endsWith(ending))
                    .map(ending -> file.substring(0, file.length() - ending.length()))
                    .findFirst();
        }
    }

    static ArchiveLocation parse(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("a URL has a character that is not allowed at index " + e.getIndex());
        }
        if (uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException("a URL with a user or password is not taken, since it would be logged");
        }
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        if (uri.getPath() == null || (!scheme.equals("file") && uri.getHost() == null)) {
            throw new IllegalArgumentException("'" + withoutQuery(uri) + "' names no host and file");
        }
        Optional<String> sha256 = Optional.ofNullable(uri.getFragment()).map(ArchiveLocation::sha256);
        if (scheme.equals("http") && sha256.isEmpty()) {
            throw new IllegalArgumentException("'" + withoutQuery(uri) + "' comes unprotected; take https://, or say"
                    + " what the file is with #sha256=HEX behind the URL");
        }
        String file = fileName(uri);
        Format format = Arrays.stream(Format.values())
                .filter(known -> known.nameWithout(file).isPresent())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "'" + withoutQuery(uri) + "' is no archive; expected .tar.gz, .tgz, .tar or .zip"));
        return new ArchiveLocation(URI.create(text.split("#", 2)[0]), format, sha256);
    }

    private static String sha256(String fragment) {
        var matcher = SHA256.matcher(fragment);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'#" + fragment + "' behind a URL is not #sha256= and 64 hexadecimal digits");
        }
        return matcher.group(1).toLowerCase(Locale.ROOT);
    }

    private static String fileName(URI uri) {
        return uri.getPath().substring(uri.getPath().lastIndexOf('/') + 1);
    }

    /** The file's name without its ending: what a single model in it is called. */
    public String name() {
        return format.nameWithout(fileName(uri)).orElseThrow();
    }

    @Override
    public String text() {
        return withoutQuery(uri);
    }

    private static String withoutQuery(URI uri) {
        return uri.toString().split("[?#]", 2)[0];
    }
}
