// SPDX-License-Identifier: Apache-2.0
package gatun.stores.location;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a model repository lies that is fetched before it is served. */
public sealed interface RepositoryLocation permits StoreLocation, ArchiveLocation {
    /** What begins like the URL of something that is fetched. A Windows path, or {@code host:port}, does not. */
    Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]+):(//|/).*");

    /** Whether {@code text} is a URL, and not the path of a file or folder. */
    static boolean isUrl(String text) {
        Matcher scheme = SCHEME.matcher(text);
        return scheme.matches()
                && (scheme.group(2).equals("//") || scheme.group(1).equalsIgnoreCase("file"));
    }

    /** Reads a URL. Throws {@link IllegalArgumentException} with the reason, but not with secrets in the URL. */
    static RepositoryLocation parse(String text) {
        Matcher matcher = SCHEME.matcher(text);
        String scheme = matcher.matches() ? matcher.group(1).toLowerCase(Locale.ROOT) : "";
        return switch (scheme) {
            case "s3", "gs", "as" -> StoreLocation.parse(text);
            case "http", "https", "file" -> ArchiveLocation.parse(text);
            default ->
                throw new IllegalArgumentException(
                        "'" + scheme + ":' names no kind of repository; expected s3://BUCKET/PATH,"
                                + " gs://BUCKET/PATH, as://ACCOUNT/CONTAINER/PATH, or an archive at https:// or file:");
        };
    }

    /** The URL as errors and logs show it; without secrets. */
    String text();
}
