// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import gatun.stores.client.Checksum;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.client.UriText;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Google Cloud Storage's requests for one bucket, in its JSON API. An object is asked for by its generation, so that what
 * comes is what was listed. Safe for any thread.
 */
public final class GoogleProtocol implements StoreProtocol {
    private final String bucket;
    private final GoogleTokens tokens;

    private GoogleProtocol(String bucket, GoogleTokens tokens) {
        this.bucket = bucket;
        this.tokens = tokens;
    }

    /**
     * The requests for the bucket of a location.
     *
     * @param given credentials that hold for it, as in Triton's file
     * @param environment credentials otherwise, and another server in {@code STORAGE_EMULATOR_HOST}
     */
    public static GoogleProtocol of(StoreLocation location, Map<String, String> given, Map<String, String> environment)
            throws IOException {
        String emulator = environment.getOrDefault("STORAGE_EMULATOR_HOST", "");
        String server = location.endpoint()
                .map(URI::toString)
                .or(() -> Optional.of(emulator)
                        .filter(host -> !host.isEmpty())
                        .map(host -> host.contains("://") ? host : "http://" + host))
                .orElse("https://storage.googleapis.com");
        GoogleTokens tokens = GoogleTokens.of(
                given,
                environment,
                Path.of(System.getProperty("user.home", "/")),
                new StoreHttp(StoreLimits.of(Duration.ofSeconds(5))));
        return new GoogleProtocol(
                server.replaceAll("/$", "") + "/storage/v1/b/" + UriText.escape(location.bucket()) + "/o", tokens);
    }

    @Override
    public HttpRequest.Builder list(String prefix, boolean deep, String page) throws IOException {
        return request(bucket + "?maxResults=1000&prefix=" + UriText.escape(prefix) + (deep ? "" : "&delimiter=%2F")
                + (page.isEmpty() ? "" : "&pageToken=" + UriText.escape(page)));
    }

    @Override
    public HttpRequest.Builder get(StoredObject object, long offset) throws IOException {
        HttpRequest.Builder request = request(bucket + "/" + UriText.escape(object.name()) + "?alt=media&generation="
                + UriText.escape(object.etag()));
        // Objects that are stored compressed would be unpacked on the way otherwise.
        request.header("Accept-Encoding", "gzip");
        return offset == 0 ? request : request.header("Range", "bytes=" + offset + "-");
    }

    private HttpRequest.Builder request(String uri) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri));
        tokens.get().ifPresent(token -> request.header("Authorization", "Bearer " + token));
        return request;
    }

    @Override
    public Page read(InputStream body) throws IOException {
        return GoogleListing.read(body);
    }

    @Override
    public List<Checksum> checksums(StoredObject object, HttpHeaders head) {
        return List.of();
    }
}
