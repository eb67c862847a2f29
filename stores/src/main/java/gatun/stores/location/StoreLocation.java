// SPDX-License-Identifier: Apache-2.0
package gatun.stores.location;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in an object store, in Triton's forms of URLs.
 *
 * @param kind the kind of store
 * @param endpoint the server, where the URL names one; empty for the provider's own
 * @param account the storage account in Azure; empty elsewhere
 * @param bucket the bucket, in Azure the container
 * @param prefix how the names of its objects begin: empty, or ending with a slash
 */
public record StoreLocation(Kind kind, Optional<URI> endpoint, String account, String bucket, String prefix)
        implements RepositoryLocation {
    private static final Pattern ENDPOINT =
            Pattern.compile("(https?://)([0-9a-zA-Z.\\-]+(?::[0-9]{1,5})?)/(.*)|([0-9a-zA-Z.\\-]+:[0-9]{1,5})/(.*)");
    private static final Pattern NAME = Pattern.compile("[0-9A-Za-z$._\\-]{1,255}");
    private static final String AZURE_HOST = ".blob.core.windows.net";

    /** A kind of store. */
    public enum Kind {
        /** Amazon S3, or what speaks its protocol. */
        S3,
        /** Google Cloud Storage. */
        GS,
        /** Azure Blob Storage. */
        AS;

        /** As URLs begin, and the file of credentials names it. */
        public String scheme() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static StoreLocation parse(String text) {
        int colon = text.indexOf(':');
        Kind kind = Kind.valueOf(text.substring(0, colon).toUpperCase(Locale.ROOT));
        String rest = text.substring(colon + 3);
        if (rest.indexOf('@') >= 0) {
            throw new IllegalArgumentException(
                    "a " + kind.scheme() + ":// URL holds no user, password or '@': credentials"
                            + " come from the environment or the file that TRITON_CLOUD_CREDENTIAL_PATH names");
        }
        Optional<URI> endpoint = Optional.empty();
        Matcher matcher = ENDPOINT.matcher(rest);
        if (matcher.matches()) {
            boolean hasScheme = matcher.group(1) != null;
            endpoint = Optional.of(
                    URI.create(hasScheme ? matcher.group(1) + matcher.group(2) : "http://" + matcher.group(4)));
            rest = hasScheme ? matcher.group(3) : matcher.group(5);
        }
        String clean = rest.replaceAll("/{2,}", "/").replaceAll("^/|/$", "");
        String account = "";
        if (kind == Kind.AS) {
            int slash = clean.indexOf('/');
            if (slash < 0) {
                throw wrong(text, kind);
            }
            account = clean.substring(0, slash);
            if (account.endsWith(AZURE_HOST)) {
                account = account.substring(0, account.length() - AZURE_HOST.length());
            }
            clean = clean.substring(slash + 1);
        }
        int slash = clean.indexOf('/');
        String bucket = slash < 0 ? clean : clean.substring(0, slash);
        String prefix = slash < 0 ? "" : clean.substring(slash + 1) + "/";
        if (!NAME.matcher(bucket).matches()
                || (kind == Kind.AS && !NAME.matcher(account).matches())) {
            throw wrong(text, kind);
        }
        return new StoreLocation(kind, endpoint, account, bucket, prefix);
    }

    private static IllegalArgumentException wrong(String text, Kind kind) {
        String expected =
                switch (kind) {
                    case S3 -> "s3://BUCKET/PATH or s3://https://HOST:PORT/BUCKET/PATH";
                    case GS -> "gs://BUCKET/PATH";
                    case AS -> "as://ACCOUNT/CONTAINER/PATH";
                };
        return new IllegalArgumentException("'" + text + "' is not of the form " + expected);
    }

    /** The last part of the path: what the folder is called. */
    public String name() {
        String path = prefix.isEmpty() ? bucket : prefix.substring(0, prefix.length() - 1);
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The URL of the folder that this one lies in; empty for a bucket. */
    public Optional<String> above() {
        return prefix.isEmpty() ? Optional.empty() : Optional.of(text().substring(0, text().lastIndexOf('/')));
    }

    @Override
    public String text() {
        return kind.scheme() + "://" + endpoint.map(server -> server + "/").orElse("")
                + (account.isEmpty() ? "" : account + "/") + bucket
                + (prefix.isEmpty() ? "" : "/" + prefix.substring(0, prefix.length() - 1));
    }
}
