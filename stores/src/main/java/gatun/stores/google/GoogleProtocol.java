// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonIOException;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.client.UriText;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
        try {
            JsonObject root = JsonParser.parseReader(new InputStreamReader(body, StandardCharsets.UTF_8))
                    .getAsJsonObject();
            List<StoredObject> objects = new ArrayList<>();
            List<String> folders = new ArrayList<>();
            for (JsonElement item : array(root, "items")) {
                objects.add(object(item.getAsJsonObject()));
            }
            for (JsonElement folder : array(root, "prefixes")) {
                folders.add(folder.getAsString());
            }
            return new Page(
                    objects,
                    folders,
                    root.has("nextPageToken") ? root.get("nextPageToken").getAsString() : "");
        } catch (JsonIOException e) {
            throw e.getCause() instanceof StoreException known
                    ? known
                    : new StoreException(Kind.UNAVAILABLE, "the connection broke while a listing came", e);
        } catch (JsonParseException | IllegalStateException | NumberFormatException | NullPointerException e) {
            throw new StoreException(Kind.MALFORMED, "the store's listing is none that can be read", e);
        }
    }

    private static JsonArray array(JsonObject root, String name) {
        return root.has(name) ? root.getAsJsonArray(name) : new JsonArray();
    }

    private static StoredObject object(JsonObject item) throws StoreException {
        long byteSize = item.get("size").getAsLong();
        String generation = item.get("generation").getAsString();
        if (byteSize < 0 || !generation.matches("[0-9]{1,20}")) {
            throw new StoreException(Kind.MALFORMED, "the store lists an object without a size or a generation");
        }
        List<Checksum> checksums = Stream.of(
                        checksum(item, "md5Hash", Algorithm.MD5), checksum(item, "crc32c", Algorithm.CRC32C))
                .flatMap(Optional::stream)
                .toList();
        return new StoredObject(item.get("name").getAsString(), generation, byteSize, checksums);
    }

    private static Optional<Checksum> checksum(JsonObject item, String name, Algorithm algorithm) {
        return item.has(name) ? Checksum.ofBase64(algorithm, item.get(name).getAsString()) : Optional.empty();
    }

    @Override
    public List<Checksum> checksums(StoredObject object, HttpHeaders head) {
        return List.of();
    }
}
