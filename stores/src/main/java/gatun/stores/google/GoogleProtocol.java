// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import gatun.stores.client.Checksum;
import gatun.stores.client.JsonTree;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.client.TokenSource;
import gatun.stores.client.UriText;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Google Cloud Storage's JSON API for a bucket; objects by their listed generation. Thread-safe. */
public final class GoogleProtocol implements StoreProtocol {
    private final String bucket;
    private final GoogleTokens tokens;

    private GoogleProtocol(String bucket, GoogleTokens tokens) {
        this.bucket = bucket;
        this.tokens = tokens;
    }

    /**
     * For a bucket, with {@code given} credentials as in Triton's file, else those of {@code environment}, which may
     * also name another server in {@code STORAGE_EMULATOR_HOST}.
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

    /** Tokens of the account in a file, else of the machine, which needs none where no file was {@code configured}. */
    record GoogleTokens(TokenSource source, boolean configured) {
        private static final String SCOPE = "https://www.googleapis.com/auth/devstorage.read_only";
        private static final long BYTE_LIMIT = 1 << 20;
        private static final int LIFETIME_SECONDS = 3600;

        /** {@code home} is the folder where the tools of Google keep the user's own file. */
        static GoogleTokens of(Map<String, String> given, Map<String, String> environment, Path home, StoreHttp http)
                throws IOException {
            String named = given.getOrDefault("path", environment.getOrDefault("GOOGLE_APPLICATION_CREDENTIALS", ""));
            Path user = home.resolve(".config/gcloud/application_default_credentials.json");
            Optional<Path> file =
                    named.isEmpty() ? Optional.of(user).filter(Files::isRegularFile) : Optional.of(Path.of(named));
            if (file.isEmpty()) {
                String host = environment.getOrDefault("GCE_METADATA_HOST", "metadata.google.internal");
                URI service =
                        URI.create("http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token");
                return new GoogleTokens(
                        new TokenSource(
                                http, "the machine's service of credentials", () -> HttpRequest.newBuilder(service)
                                        .header("Metadata-Flavor", "Google")),
                        false);
            }
            Map<String, Object> key = read(file.get());
            return new GoogleTokens(new TokenSource(http, "Google's token service", () -> request(key)), true);
        }

        /** The token; empty for none. */
        Optional<String> get() throws IOException {
            return configured ? Optional.of(source.get()) : source.ifAnswered();
        }

        private static Map<String, Object> read(Path file) throws IOException {
            try {
                if (Files.size(file) <= BYTE_LIMIT) {
                    Map<String, Object> key = JsonTree.object(Files.readString(file));
                    String type = JsonTree.text(key, "type");
                    if (type.equals("service_account") || type.equals("authorized_user")) {
                        return key;
                    }
                }
            } catch (JsonProcessingException e) {
                // Said below, without what is in it.
            }
            throw new StoreException(
                    Kind.DENIED,
                    file
                            + " is no file of credentials of Google's that is known here: expected the type service_account or"
                            + " authorized_user");
        }

        private static HttpRequest.Builder request(Map<String, Object> key) throws IOException {
            try {
                if (JsonTree.text(key, "type").equals("authorized_user")) {
                    return form(
                            "https://oauth2.googleapis.com/token",
                            "grant_type=refresh_token&client_id=" + text(key, "client_id") + "&client_secret="
                                    + text(key, "client_secret") + "&refresh_token=" + text(key, "refresh_token"));
                }
                return form(
                        required(key, "token_uri"),
                        "grant_type=" + UriText.escape("urn:ietf:params:oauth:grant-type:jwt-bearer") + "&assertion="
                                + assertion(key));
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                throw new StoreException(Kind.DENIED, "the file of Google's credentials has no key that can be used");
            }
        }

        private static String text(Map<String, Object> key, String name) {
            return UriText.escape(required(key, name));
        }

        private static String required(Map<String, Object> key, String name) {
            if (key.get(name) instanceof String text) {
                return text;
            }
            throw new IllegalArgumentException(name + " is missing");
        }

        private static HttpRequest.Builder form(String uri, String form) {
            return HttpRequest.newBuilder(URI.create(uri))
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(BodyPublishers.ofString(form));
        }

        /** A signed statement of who asks (RFC 7523), which the token service takes. */
        private static String assertion(Map<String, Object> key) throws GeneralSecurityException {
            long now = Instant.now().getEpochSecond();
            String claims = "{\"iss\":\"" + quoted(required(key, "client_email")) + "\",\"scope\":\"" + SCOPE
                    + "\",\"aud\":\"" + quoted(required(key, "token_uri")) + "\",\"iat\":" + now + ",\"exp\":"
                    + (now + LIFETIME_SECONDS) + "}";
            String signed = base64("{\"alg\":\"RS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8)) + "."
                    + base64(claims.getBytes(StandardCharsets.UTF_8));
            String pem = required(key, "private_key");
            byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der)));
            signature.update(signed.getBytes(StandardCharsets.UTF_8));
            return signed + "." + base64(signature.sign());
        }

        private static String quoted(String text) {
            return new String(JsonStringEncoder.getInstance().quoteAsString(text));
        }

        private static String base64(byte[] bytes) {
            return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        }
    }
}
