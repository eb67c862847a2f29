// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import com.fasterxml.jackson.core.JsonProcessingException;
import gatun.stores.client.JsonTree;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.UriText;
import gatun.stores.client.XmlRows;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys for S3 as AWS's tools do: given ones, the environment, a profile, a token of Kubernetes (EKS), the
 * container's service (ECS, EKS), the machine's (EC2). Renews keys before they expire. Thread-safe.
 */
final class AwsCredentialSource {
    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(5);
    private static final int BYTE_LIMIT = 1 << 16;
    private static final String MACHINE = "http://169.254.169.254";

    private final Map<String, String> given;
    private final Map<String, String> environment;
    private final Path home;
    private final StoreHttp http;
    private final ReentrantLock lock = new ReentrantLock();

    /** The keys that were found; null for none. Guarded by the lock, as is whether they were looked for. */
    private @Nullable AwsCredentials found;

    private boolean looked;

    /** {@code given} is as Triton's file has it. {@code http}, for services, has short timeouts. */
    AwsCredentialSource(Map<String, String> given, Map<String, String> environment, Path home, StoreHttp http) {
        this.given = Map.copyOf(given);
        this.environment = Map.copyOf(environment);
        this.home = home;
        this.http = http;
    }

    /** Empty for unsigned requests. Throws {@link StoreException} DENIED when configured keys cannot be had. */
    Optional<AwsCredentials> get() throws IOException {
        lock.lock();
        try {
            AwsCredentials known = found;
            boolean stale = known != null
                    && known.expiry()
                            .map(end -> Instant.now().plus(BEFORE_EXPIRY).isAfter(end))
                            .orElse(false);
            if (!looked || stale) {
                known = look().orElse(null);
                found = known;
                looked = true;
            }
            return Optional.ofNullable(known);
        } finally {
            lock.unlock();
        }
    }

    /** The region of the environment or profile; empty where none is named. */
    Optional<String> region() throws IOException {
        for (String name : new String[] {"AWS_DEFAULT_REGION", "AWS_REGION"}) {
            if (!given.getOrDefault("region", "").isEmpty()) {
                return Optional.of(given.getOrDefault("region", ""));
            }
            if (!value(name).isEmpty()) {
                return Optional.of(value(name));
            }
        }
        return Optional.ofNullable(profile().get("region"));
    }

    private String value(String variable) {
        return environment.getOrDefault(variable, "");
    }

    private Map<String, String> profile() throws IOException {
        String named = given.getOrDefault("profile", value("AWS_PROFILE"));
        return AwsProfiles.read(named.isEmpty() ? "default" : named, environment, home);
    }

    private Optional<AwsCredentials> look() throws IOException {
        if (given.containsKey("key_id") && given.containsKey("secret_key")) {
            return Optional.of(fixed(
                    given.getOrDefault("key_id", ""),
                    given.getOrDefault("secret_key", ""),
                    given.getOrDefault("session_token", "")));
        }
        if (!given.containsKey("profile")
                && !value("AWS_ACCESS_KEY_ID").isEmpty()
                && !value("AWS_SECRET_ACCESS_KEY").isEmpty()) {
            return Optional.of(
                    fixed(value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY"), value("AWS_SESSION_TOKEN")));
        }
        Map<String, String> profile = profile();
        if (profile.containsKey("aws_access_key_id") && profile.containsKey("aws_secret_access_key")) {
            return Optional.of(fixed(
                    profile.getOrDefault("aws_access_key_id", ""),
                    profile.getOrDefault("aws_secret_access_key", ""),
                    profile.getOrDefault("aws_session_token", "")));
        }
        String asked = given.getOrDefault("profile", value("AWS_PROFILE"));
        if (!asked.isEmpty()) {
            throw new StoreException(
                    Kind.DENIED,
                    "the profile '" + asked
                            + "' has no aws_access_key_id and aws_secret_access_key; for profiles that sign in"
                            + " otherwise: eval \"$(aws configure export-credentials --profile " + asked
                            + " --format env)\"");
        }
        if (!value("AWS_WEB_IDENTITY_TOKEN_FILE").isEmpty()
                && !value("AWS_ROLE_ARN").isEmpty()) {
            return Optional.of(ofToken());
        }
        Optional<URI> container = container();
        if (container.isPresent()) {
            return Optional.of(ofContainer(container.get()));
        }
        return value("AWS_EC2_METADATA_DISABLED").equalsIgnoreCase("true") ? Optional.empty() : ofMachine();
    }

    private static AwsCredentials fixed(String keyId, String secretKey, String token) {
        return new AwsCredentials(keyId, secretKey, token, Optional.empty());
    }

    private AwsCredentials ofToken() throws IOException {
        String token =
                Files.readString(Path.of(value("AWS_WEB_IDENTITY_TOKEN_FILE"))).strip();
        String host = region().map(region -> "sts." + region + ".amazonaws.com").orElse("sts.amazonaws.com");
        String form = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName="
                + UriText.escape(environment.getOrDefault("AWS_ROLE_SESSION_NAME", "gatun")) + "&RoleArn="
                + UriText.escape(value("AWS_ROLE_ARN")) + "&WebIdentityToken=" + UriText.escape(token);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("https://" + host + "/"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form));
        try (StoreHttp.StoreResponse response = http.send(request, BYTE_LIMIT)) {
            requireSuccess(response, "AWS's token service");
            Map<String, String> values = XmlRows.read(response.body(), Map.of());
            return expiring(
                    values.getOrDefault("AccessKeyId", ""),
                    values.getOrDefault("SecretAccessKey", ""),
                    values.getOrDefault("SessionToken", ""),
                    values.getOrDefault("Expiration", ""));
        }
    }

    private Optional<URI> container() {
        String relative = value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        String full = value("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        if (relative.startsWith("/")) {
            return Optional.of(URI.create("http://169.254.170.2" + relative));
        }
        return full.isEmpty() ? Optional.empty() : Optional.of(URI.create(full));
    }

    private AwsCredentials ofContainer(URI service) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(service);
        String file = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        String token = file.isEmpty()
                ? value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
                : Files.readString(Path.of(file)).strip();
        if (!token.isEmpty()) {
            request.header("Authorization", token);
        }
        try (StoreHttp.StoreResponse response = http.send(request, BYTE_LIMIT)) {
            requireSuccess(response, "the container's service of credentials");
            return ofJson(response);
        }
    }

    /** Of an instance of EC2; empty on other machines, which have no such service. */
    private Optional<AwsCredentials> ofMachine() throws IOException {
        String folder = MACHINE + "/latest/meta-data/iam/security-credentials/";
        String token;
        try (StoreHttp.StoreResponse response = http.send(
                HttpRequest.newBuilder(URI.create(MACHINE + "/latest/api/token"))
                        .header("X-aws-ec2-metadata-token-ttl-seconds", "21600")
                        .PUT(BodyPublishers.noBody()),
                BYTE_LIMIT)) {
            token = response.status() == 200 ? text(response) : "";
        } catch (StoreException e) {
            return Optional.empty();
        }
        if (token.isEmpty() || token.length() > 1024 || !token.matches("[\\x21-\\x7e]+")) {
            return Optional.empty();
        }
        String role;
        try (StoreHttp.StoreResponse response = http.send(machine(folder, token), BYTE_LIMIT)) {
            role = response.status() == 200 ? text(response).lines().findFirst().orElse("") : "";
        }
        if (role.isEmpty()) {
            return Optional.empty();
        }
        try (StoreHttp.StoreResponse response = http.send(machine(folder + UriText.escape(role), token), BYTE_LIMIT)) {
            requireSuccess(response, "the machine's service of credentials");
            return Optional.of(ofJson(response));
        }
    }

    private static HttpRequest.Builder machine(String uri, String token) {
        return HttpRequest.newBuilder(URI.create(uri)).header("X-aws-ec2-metadata-token", token);
    }

    private static String text(StoreHttp.StoreResponse response) throws IOException {
        return new String(response.body().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    private static AwsCredentials ofJson(StoreHttp.StoreResponse response) throws IOException {
        String text = text(response);
        try {
            Map<String, Object> values = JsonTree.object(text);
            if (values.containsKey("AccessKeyId") && values.containsKey("SecretAccessKey")) {
                return expiring(
                        JsonTree.text(values, "AccessKeyId"),
                        JsonTree.text(values, "SecretAccessKey"),
                        JsonTree.text(values, "Token"),
                        JsonTree.text(values, "Expiration"));
            }
        } catch (JsonProcessingException e) {
            // As keys that are missing.
        }
        throw new StoreException(Kind.DENIED, "a service of credentials gave none that can be read");
    }

    private static AwsCredentials expiring(String keyId, String secretKey, String token, String expiry)
            throws StoreException {
        if (keyId.isEmpty() || secretKey.isEmpty()) {
            throw new StoreException(Kind.DENIED, "a service of credentials gave none");
        }
        try {
            return new AwsCredentials(
                    keyId, secretKey, token, expiry.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(expiry)));
        } catch (DateTimeException e) {
            throw new StoreException(Kind.DENIED, "a service of credentials gave some with an expiry that is no time");
        }
    }

    private static void requireSuccess(StoreHttp.StoreResponse response, String who) throws StoreException {
        if (response.status() != 200) {
            throw new StoreException(
                    Kind.DENIED,
                    who + " gave no credentials (status " + response.status() + ": " + response.excerpt() + ")");
        }
    }

    /** The profiles in the files that the tools of AWS keep in the user's home. */
    static final class AwsProfiles {
        private static final long BYTE_LIMIT = 1 << 20;

        private AwsProfiles() {}

        /** The values of both files for a profile; the file of credentials counts first. */
        static Map<String, String> read(String profile, Map<String, String> environment, Path home) throws IOException {
            Path folder = home.resolve(".aws");
            Path config = Path.of(environment.getOrDefault(
                    "AWS_CONFIG_FILE", folder.resolve("config").toString()));
            Path credentials = Path.of(environment.getOrDefault(
                    "AWS_SHARED_CREDENTIALS_FILE", folder.resolve("credentials").toString()));
            Map<String, String> values = new HashMap<>();
            read(config, profile.equals("default") ? "default" : "profile " + profile, values);
            read(credentials, profile, values);
            return values;
        }

        private static void read(Path file, String section, Map<String, String> values) throws IOException {
            if (!Files.isRegularFile(file) || Files.size(file) > BYTE_LIMIT) {
                return;
            }
            boolean inside = false;
            for (String line : Files.readAllLines(file)) {
                String text = line.strip();
                if (text.startsWith("[") && text.endsWith("]")) {
                    inside = text.substring(1, text.length() - 1).strip().equals(section);
                } else if (inside && !text.startsWith("#") && text.indexOf('=') > 0) {
                    int equals = text.indexOf('=');
                    values.put(
                            text.substring(0, equals).strip(),
                            text.substring(equals + 1).strip());
                }
            }
        }
    }

    /** The keys to sign requests with. {@code sessionToken} may be empty; an empty {@code expiry} is never. */
    record AwsCredentials(String keyId, String secretKey, String sessionToken, Optional<Instant> expiry) {
        @Override
        public String toString() {
            return "AwsCredentials[" + keyId + "]";
        }
    }
}
