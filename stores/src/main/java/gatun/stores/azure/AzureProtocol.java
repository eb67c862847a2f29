// SPDX-License-Identifier: Apache-2.0
package gatun.stores.azure;

import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.client.UriText;
import gatun.stores.client.XmlRows;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Azure Blob Storage's requests for one container: "List Blobs" and "Get Blob". Safe for any thread. */
public final class AzureProtocol implements StoreProtocol {
    private static final String VERSION = "2021-08-06";
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);
    private static final Pattern ETAG = Pattern.compile("[!#-~]{1,256}");

    private final String container;
    private final AzureAccess access;

    private AzureProtocol(String container, AzureAccess access) {
        this.container = container;
        this.access = access;
    }

    /**
     * The requests for the container of a location.
     *
     * @param given credentials that hold for it, as in Triton's file
     * @param environment credentials otherwise
     */
    public static AzureProtocol of(StoreLocation location, Map<String, String> given, Map<String, String> environment)
            throws IOException {
        String named = given.getOrDefault("account_str", environment.getOrDefault("AZURE_STORAGE_ACCOUNT", ""));
        String account = named.isEmpty() ? location.account() : named;
        // Elsewhere than at Azure, the account is the first part of paths.
        String server = location.endpoint()
                .map(endpoint -> endpoint + "/" + location.account())
                .orElse("https://" + account + ".blob.core.windows.net");
        AzureAccess access =
                AzureAccess.of(account, given, environment, new StoreHttp(StoreLimits.of(Duration.ofSeconds(5))));
        return new AzureProtocol(server + "/" + UriText.escape(location.bucket()), access);
    }

    @Override
    public HttpRequest.Builder list(String prefix, boolean deep, String page) throws IOException {
        return request(
                container + "?restype=container&comp=list&prefix=" + UriText.escape(prefix)
                        + (deep ? "" : "&delimiter=%2F") + (page.isEmpty() ? "" : "&marker=" + UriText.escape(page)),
                new TreeMap<>());
    }

    @Override
    public HttpRequest.Builder get(StoredObject object, long offset) throws IOException {
        SortedMap<String, String> headers = new TreeMap<>();
        headers.put("if-match", "\"" + object.etag() + "\"");
        if (offset > 0) {
            headers.put("range", "bytes=" + offset + "-");
        }
        return request(container + "/" + UriText.escapePath(object.name()), headers);
    }

    private HttpRequest.Builder request(String text, SortedMap<String, String> headers) throws IOException {
        URI uri = URI.create(text);
        headers.put("x-ms-date", TIME.format(Instant.now()));
        headers.put("x-ms-version", VERSION);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        headers.forEach(request::header);
        access.add(request, uri, headers);
        return request;
    }

    @Override
    public Page read(InputStream body) throws IOException {
        List<Map<String, String>> rows = new ArrayList<>();
        List<String> folders = new ArrayList<>();
        Map<String, String> whole = XmlRows.read(
                body, Map.of("Blob", rows::add, "BlobPrefix", row -> folders.add(row.getOrDefault("Name", ""))));
        List<StoredObject> objects = new ArrayList<>(rows.size());
        for (Map<String, String> row : rows) {
            objects.add(object(row));
        }
        return new Page(objects, folders, whole.getOrDefault("NextMarker", ""));
    }

    private static StoredObject object(Map<String, String> row) throws StoreException {
        String etag = row.getOrDefault("Etag", "").replace("\"", "");
        try {
            long byteSize = Long.parseLong(row.getOrDefault("Content-Length", ""));
            if (byteSize >= 0 && ETAG.matcher(etag).matches()) {
                List<Checksum> checksums = row.getOrDefault("Content-MD5", "").isEmpty()
                        ? List.of()
                        : Checksum.ofBase64(Algorithm.MD5, row.getOrDefault("Content-MD5", "")).stream()
                                .toList();
                return new StoredObject(row.getOrDefault("Name", ""), etag, byteSize, checksums);
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new StoreException(Kind.MALFORMED, "the store lists a blob without a size or an ETag");
    }

    @Override
    public List<Checksum> checksums(StoredObject object, HttpHeaders head) {
        return List.of();
    }
}
