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
import gatun.stores.client.TokenSource;
import gatun.stores.client.UriText;
import gatun.stores.client.XmlRows;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

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

    /** For a container, with {@code given} credentials as in Triton's file, else those of {@code environment}. */
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

    /** How requests to Azure Blob Storage say who asks. Implementations are safe for any thread. */
    sealed interface AzureAccess {
        /** Adds the headers to a request without a body. */
        void add(HttpRequest.Builder request, URI uri, SortedMap<String, String> headers) throws IOException;

        /** Says nothing. */
        record Anonymous() implements AzureAccess {
            @Override
            public void add(HttpRequest.Builder request, URI uri, SortedMap<String, String> headers) {}
        }

        /** A token of Entra ID. */
        record Token(TokenSource source) implements AzureAccess {
            @Override
            public void add(HttpRequest.Builder request, URI uri, SortedMap<String, String> headers)
                    throws IOException {
                request.header("Authorization", "Bearer " + source.get());
            }
        }

        /** Signs each request with the account's key, as Azure's "Authorize with Shared Key" says. */
        record SharedKey(String account, SecretKeySpec key) implements AzureAccess {
            @Override
            public void add(HttpRequest.Builder request, URI uri, SortedMap<String, String> headers) {
                StringBuilder toSign = new StringBuilder("GET\n\n\n\n\n\n\n\n")
                        .append(headers.getOrDefault("if-match", ""))
                        .append("\n\n\n")
                        .append(headers.getOrDefault("range", ""))
                        .append('\n');
                headers.forEach((name, value) -> {
                    if (name.startsWith("x-ms-")) {
                        toSign.append(name).append(':').append(value).append('\n');
                    }
                });
                toSign.append('/').append(account).append(uri.getRawPath());
                SortedMap<String, String> parameters = new TreeMap<>();
                if (uri.getRawQuery() != null) {
                    for (String parameter : uri.getRawQuery().split("&", -1)) {
                        String[] parts = parameter.split("=", 2);
                        parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
                    }
                }
                parameters.forEach((name, value) ->
                        toSign.append('\n').append(name).append(':').append(value));
                request.header("Authorization", "SharedKey " + account + ":" + sign(toSign.toString()));
            }

            private String sign(String text) {
                try {
                    Mac mac = Mac.getInstance("HmacSHA256");
                    mac.init(key);
                    return Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
                } catch (GeneralSecurityException e) {
                    throw new IllegalStateException("every Java platform has HmacSHA256", e);
                }
            }

            @Override
            public String toString() {
                return "SharedKey[" + account + "]";
            }
        }

        /** Access by {@code given}, as in Triton's file, or the environment. Throws DENIED when unusable. */
        static AzureAccess of(
                String account, Map<String, String> given, Map<String, String> environment, StoreHttp http)
                throws IOException {
            boolean fromFile = !given.isEmpty();
            String key = fromFile
                    ? given.getOrDefault("account_key", "")
                    : environment.getOrDefault("AZURE_STORAGE_KEY", "");
            String type = fromFile
                    ? given.getOrDefault("auth_type", "")
                    : environment.getOrDefault("AZURE_STORAGE_AUTH_TYPE", "");
            String client = fromFile
                    ? given.getOrDefault("client_id", "")
                    : environment.getOrDefault("AZURE_STORAGE_CLIENT_ID", "");
            return switch (type) {
                case "managed_identity" -> new Token(machine(client, http));
                case "default" ->
                    environment.containsKey("AZURE_FEDERATED_TOKEN_FILE")
                            ? new Token(workload(environment, http))
                            : new Token(machine(client, http));
                case "", "key" -> key.isEmpty() ? new Anonymous() : new SharedKey(account, key(key));
                default ->
                    throw new StoreException(
                            Kind.DENIED,
                            "AZURE_STORAGE_AUTH_TYPE (auth_type) is '" + type
                                    + "'; expected key, managed_identity or default");
            };
        }

        private static SecretKeySpec key(String base64) throws StoreException {
            try {
                return new SecretKeySpec(Base64.getDecoder().decode(base64), "HmacSHA256");
            } catch (IllegalArgumentException e) {
                throw new StoreException(Kind.DENIED, "AZURE_STORAGE_KEY (account_key) is not in Base64, as keys are");
            }
        }

        private static TokenSource machine(String client, StoreHttp http) {
            String query = "?api-version=2018-02-01&resource=" + UriText.escape("https://storage.azure.com/")
                    + (client.isEmpty() ? "" : "&client_id=" + UriText.escape(client));
            URI service = URI.create("http://169.254.169.254/metadata/identity/oauth2/token" + query);
            return new TokenSource(http, "Azure's service of managed identities", () -> HttpRequest.newBuilder(service)
                    .header("Metadata", "true"));
        }

        private static TokenSource workload(Map<String, String> environment, StoreHttp http) {
            String authority = environment.getOrDefault("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com/");
            URI service = URI.create(authority.replaceAll("/$", "") + "/"
                    + UriText.escape(environment.getOrDefault("AZURE_TENANT_ID", "")) + "/oauth2/v2.0/token");
            return new TokenSource(http, "Entra ID", () -> {
                String token = Files.readString(Path.of(environment.getOrDefault("AZURE_FEDERATED_TOKEN_FILE", "")))
                        .strip();
                String form = "grant_type=client_credentials&scope="
                        + UriText.escape("https://storage.azure.com/.default") + "&client_assertion_type="
                        + UriText.escape("urn:ietf:params:oauth:client-assertion-type:jwt-bearer") + "&client_id="
                        + UriText.escape(environment.getOrDefault("AZURE_CLIENT_ID", "")) + "&client_assertion="
                        + UriText.escape(token);
                return HttpRequest.newBuilder(service)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form));
            });
        }
    }
}
