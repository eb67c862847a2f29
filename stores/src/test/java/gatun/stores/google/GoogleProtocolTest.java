// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoredObject;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests and answers as the documentation of Google's JSON API has them: no server of it can be had for tests. */
class GoogleProtocolTest {
    private static final StoreLimits LIMITS = StoreLimits.of(Duration.ofSeconds(10));

    @TempDir
    Path folder;

    private HttpServer server;
    private KeyPair keys;

    @BeforeEach
    void start() throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        keys = generator.generateKeyPair();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/token", this::token);
        server.createContext("/storage/v1/b/bucket/o", GoogleProtocolTest::bucket);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Test
    void shouldListAndFetchAsAServiceAccount() throws IOException {
        String pem = "-----BEGIN PRIVATE KEY-----\\n"
                + Base64.getEncoder().encodeToString(keys.getPrivate().getEncoded())
                + "\\n-----END PRIVATE KEY-----\\n";
        Path file = Files.writeString(
                folder.resolve("key.json"),
                "{\"type\": \"service_account\", \"client_email\": \"me@example\", \"token_uri\": \"" + url()
                        + "/token\", \"private_key\": \"" + pem + "\"}");
        StoreLocation location = (StoreLocation) RepositoryLocation.parse("gs://" + url() + "/bucket/models");
        GoogleProtocol protocol =
                GoogleProtocol.of(location, Map.of(), Map.of("GOOGLE_APPLICATION_CREDENTIALS", file.toString()));
        try (ObjectStore store = new ObjectStore(location.text(), protocol, new StoreHttp(LIMITS), LIMITS)) {
            List<StoredObject> objects = store.list(location.prefix());
            store.fetch(objects.getLast(), folder.resolve("fetched"), bytes -> {});

            assertThat(objects).extracting(StoredObject::name).containsExactly("models/a/1/m", "models/a/1/n ü");
            assertThat(folder.resolve("fetched")).hasContent("content");
        }
    }

    /** Gives a token for a statement that the account has signed. */
    private void token(HttpExchange exchange) throws IOException {
        String form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String[] parts = form.substring(form.indexOf("assertion=") + 10).split("\\.", -1);
        boolean signed;
        try {
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initVerify(keys.getPublic());
            signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.UTF_8));
            signed = signature.verify(Base64.getUrlDecoder().decode(parts[2]));
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        String claims = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        boolean mine = signed && claims.contains("\"iss\":\"me@example\"");
        answer(exchange, mine ? 200 : 401, "{\"access_token\": \"t0ken\", \"expires_in\": 3600}");
    }

    private static void bucket(HttpExchange exchange) throws IOException {
        String path = URLDecoder.decode(exchange.getRequestURI().getRawPath(), StandardCharsets.UTF_8);
        String query = exchange.getRequestURI().getQuery();
        if (!"Bearer t0ken".equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
            answer(exchange, 401, "{\"error\": {\"message\": \"who are you\"}}");
        } else if (path.endsWith("/o/models/a/1/n ü")) {
            answer(exchange, query.equals("alt=media&generation=22") ? 200 : 404, "content");
        } else if (query.contains("pageToken=second")) {
            answer(exchange, 200, """
                    {"kind": "storage#objects", "items": [{"name": "models/a/1/n ü", "size": "7", "generation": "22",
                      "md5Hash": "mgNkuembtIDdJeHwKEyFVQ==", "crc32c": "Ya91Mw==", "etag": "CA=="}]}""");
        } else {
            assertThat(query).contains("prefix=models/");
            answer(exchange, 200, """
                    {"kind": "storage#objects", "nextPageToken": "second", "items": [
                      {"name": "models/a/1/m", "size": "0", "generation": "21"}]}""");
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
