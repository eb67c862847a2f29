// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.client.UriText;
import gatun.stores.client.XmlRows;
import gatun.stores.location.StoreLocation;
import gatun.stores.s3.AwsCredentialSource.AwsCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** S3's requests for one bucket: {@code ListObjectsV2} and {@code GetObject}. Safe for any thread. */
public final class S3Protocol implements StoreProtocol {
    private static final Pattern MD5 = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern ETAG = Pattern.compile("[!#-~]{1,256}");
    private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,32}");
    private static final Map<String, Algorithm> CHECKSUMS = Map.of(
            "x-amz-checksum-crc32", Algorithm.CRC32,
            "x-amz-checksum-crc32c", Algorithm.CRC32C,
            "x-amz-checksum-sha1", Algorithm.SHA1,
            "x-amz-checksum-sha256", Algorithm.SHA256);

    private final StoreLocation location;
    private final AwsCredentialSource credentials;
    private final Optional<URI> endpoint;

    private volatile String region;

    /** Whether the store knows of checksums besides ETags; some answer requests for them with an error. */
    private volatile boolean asksChecksums = true;

    private S3Protocol(StoreLocation location, AwsCredentialSource credentials, Optional<URI> endpoint, String region) {
        this.location = location;
        this.credentials = credentials;
        this.endpoint = endpoint;
        this.region = region;
    }

    /**
     * For a bucket, with {@code given} credentials as in Triton's file, else those of {@code environment}, which also
     * names the endpoint where the location does not.
     */
    public static S3Protocol of(StoreLocation location, Map<String, String> given, Map<String, String> environment)
            throws IOException {
        AwsCredentialSource credentials = new AwsCredentialSource(
                given,
                environment,
                Path.of(System.getProperty("user.home", "/")),
                // Machines without such services do not answer at all.
                new StoreHttp(StoreLimits.of(Duration.ofSeconds(2))));
        String other =
                environment.getOrDefault("AWS_ENDPOINT_URL_S3", environment.getOrDefault("AWS_ENDPOINT_URL", ""));
        Optional<URI> endpoint = location.endpoint()
                .or(() -> Optional.of(other).filter(url -> !url.isEmpty()).map(URI::create));
        return new S3Protocol(
                location, credentials, endpoint, credentials.region().orElse("us-east-1"));
    }

    @Override
    public HttpRequest.Builder list(String prefix, boolean deep, String page) throws IOException {
        // In the order of their names, as signatures want them.
        StringBuilder query = new StringBuilder();
        if (!page.isEmpty()) {
            query.append("continuation-token=").append(UriText.escape(page)).append('&');
        }
        if (!deep) {
            query.append("delimiter=%2F&");
        }
        query.append("encoding-type=url&list-type=2&prefix=").append(UriText.escape(prefix));
        return request("", query.toString(), new TreeMap<>());
    }

    @Override
    public HttpRequest.Builder get(StoredObject object, long offset) throws IOException {
        SortedMap<String, String> headers = new TreeMap<>();
        headers.put("if-match", "\"" + object.etag() + "\"");
        if (offset > 0) {
            headers.put("range", "bytes=" + offset + "-");
        } else if (asksChecksums) {
            headers.put("x-amz-checksum-mode", "ENABLED");
        }
        return request(object.name(), "", headers);
    }

    private HttpRequest.Builder request(String name, String query, SortedMap<String, String> headers)
            throws IOException {
        String bucket = location.bucket();
        String base;
        if (endpoint.isPresent()) {
            base = endpoint.get().toString().replaceAll("/$", "") + "/" + bucket;
        } else {
            String host = "s3." + region + ".amazonaws.com" + (region.startsWith("cn-") ? ".cn" : "");
            // A certificate is for one label before it.
            base = bucket.indexOf('.') >= 0 ? "https://" + host + "/" + bucket : "https://" + bucket + "." + host;
        }
        URI uri = URI.create(base + "/" + UriText.escapePath(name) + (query.isEmpty() ? "" : "?" + query));
        Optional<AwsCredentials> keys = credentials.get();
        if (keys.isPresent()) {
            return new RequestSigner(keys.get(), region).sign(uri, headers, Instant.now());
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        headers.forEach(request::header);
        return request;
    }

    @Override
    public boolean refused(int status, HttpHeaders head) {
        if (status == 501 && asksChecksums) {
            asksChecksums = false;
            return true;
        }
        Optional<String> other = head.firstValue("x-amz-bucket-region")
                .filter(name -> REGION.matcher(name).matches());
        if (endpoint.isEmpty() && other.isPresent() && !other.get().equals(region)) {
            region = other.get();
            return true;
        }
        return false;
    }

    @Override
    public Page read(InputStream body) throws IOException {
        List<Map<String, String>> rows = new ArrayList<>();
        List<String> folders = new ArrayList<>();
        Map<String, String> whole = XmlRows.read(
                body,
                Map.of("Contents", rows::add, "CommonPrefixes", row -> folders.add(row.getOrDefault("Prefix", ""))));
        boolean escaped = whole.getOrDefault("EncodingType", "").equals("url");
        List<StoredObject> objects = new ArrayList<>(rows.size());
        for (Map<String, String> row : rows) {
            objects.add(object(row, escaped));
        }
        for (int i = 0; i < folders.size(); i++) {
            folders.set(i, plain(folders.get(i), escaped));
        }
        String next = whole.getOrDefault("IsTruncated", "false").equals("true")
                ? whole.getOrDefault("NextContinuationToken", "")
                : "";
        return new Page(objects, folders, next);
    }

    private static StoredObject object(Map<String, String> row, boolean escaped) throws StoreException {
        String etag = row.getOrDefault("ETag", "").replace("\"", "");
        try {
            long byteSize = Long.parseLong(row.getOrDefault("Size", ""));
            if (byteSize >= 0 && ETAG.matcher(etag).matches()) {
                return new StoredObject(plain(row.getOrDefault("Key", ""), escaped), etag, byteSize, List.of());
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new StoreException(StoreException.Kind.MALFORMED, "the store lists an object without a size or an ETag");
    }

    /** A name as it is. Listings escape names, since XML has no way to write all that may be in one. */
    private static String plain(String name, boolean escaped) throws StoreException {
        try {
            return escaped ? URLDecoder.decode(name, StandardCharsets.UTF_8) : name;
        } catch (IllegalArgumentException e) {
            throw new StoreException(
                    StoreException.Kind.MALFORMED, "the store lists a name that is escaped wrongly: " + e.getMessage());
        }
    }

    @Override
    public List<Checksum> checksums(StoredObject object, HttpHeaders head) {
        List<Checksum> checksums = new ArrayList<>();
        CHECKSUMS.forEach((header, algorithm) -> head.firstValue(header)
                .flatMap(text -> Checksum.ofBase64(algorithm, text))
                .ifPresent(checksums::add));
        // With keys of one's own, and for objects that came in parts, an ETag is no checksum.
        boolean plain =
                !head.firstValue("x-amz-server-side-encryption").orElse("").startsWith("aws:kms")
                        && head.firstValue("x-amz-server-side-encryption-customer-algorithm")
                                .isEmpty();
        if (plain && MD5.matcher(object.etag()).matches()) {
            checksums.add(new Checksum(Algorithm.MD5, object.etag()));
        }
        return checksums;
    }
}
