// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.FaultyStore;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.s3.S3Protocol;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that lies, breaks off, or dawdles gets a clear error within limits. */
class ObjectStoreTest {
    private static final String SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    private static final StoreLimits LIMITS =
            new StoreLimits(Duration.ofMillis(500), 1024, 3, Duration.ofMillis(1), 100, 1 << 16, 1 << 16);

    @TempDir
    Path folder;

    private FaultyStore server;
    private ObjectStore store;

    @BeforeEach
    void start() throws IOException {
        server = FaultyStore.start();
        StoreLocation location = (StoreLocation) RepositoryLocation.parse(server.url(""));
        store = new ObjectStore(
                location.text(),
                S3Protocol.of(location, Map.of("key_id", "AKIAIOSFODNN7EXAMPLE", "secret_key", SECRET), Map.of()),
                new StoreHttp(LIMITS),
                LIMITS);
    }

    @AfterEach
    void stop() {
        store.close();
        server.close();
    }

    @Test
    void shouldListAndFetchNamesOfAllKinds() throws IOException {
        for (String name : List.of("a/b c+d%20", "a/ü/日本", "a/~'()*!&=?#")) {
            server.put(name, "content of " + name);
        }

        List<StoredObject> objects = store.list("a/");

        assertThat(objects).hasSize(3);
        for (StoredObject object : objects) {
            assertThat(Files.readString(fetched(object))).isEqualTo("content of " + object.name());
        }
    }

    @Test
    void shouldGoOnWhereAConnectionBroke() throws IOException {
        server.put("a", "0123456789");
        byte[] content = server.objects.get("a");
        AtomicLong progress = new AtomicLong();
        server.replies.put(
                "a",
                (out, request) -> FaultyStore.content(out, request, content, request.containsKey("range") ? 10 : 4));

        Path file = folder.resolve("file");
        store.fetch(only(), file, progress::addAndGet);

        assertThat(Files.readString(file)).isEqualTo("0123456789");
        assertThat(server.asked).containsExactly("a from 0", "a from 4");
        assertThat(progress).hasValue(10);
    }

    @Test
    void shouldGiveUpWhenConnectionsKeepBreaking() throws IOException {
        server.put("a", "0123456789");
        byte[] content = server.objects.get("a");
        server.replies.put("a", (out, request) -> FaultyStore.content(out, request, content, 4));

        requireFailure(Kind.UNAVAILABLE, () -> fetched(only()));
        assertThat(server.asked).hasSize(3);
    }

    @Test
    void shouldRefuseOtherBytesOfTheSameLength() throws IOException {
        server.put("a", "0123456789");
        server.replies.put("a", (out, request) -> FaultyStore.status(out, "200 OK", "0123456780"));

        requireFailure(Kind.MALFORMED, () -> fetched(only()))
                .withMessageContaining("arrived damaged: its MD5 is")
                .withMessageContaining("'a'");
    }

    @Test
    void shouldRefuseABodyWithoutEnd() throws IOException {
        server.put("a", "0123456789");
        server.replies.put("a", (out, request) -> FaultyStore.endless(out, "", "x".repeat(1000)));

        requireFailure(Kind.LIMIT, () -> fetched(only()));
        assertThat(Files.size(folder.resolve("file"))).isLessThan(1 << 17);
    }

    @Test
    void shouldRefuseAListingWithoutEnd() {
        server.replies.put(
                "?",
                (out, request) -> FaultyStore.endless(out, "<ListBucketResult>", "<Contents><Key>k</Key></Contents>"));

        requireFailure(Kind.LIMIT, () -> store.list(""));
    }

    @Test
    void shouldRefuseAListingOfTooManyObjects() {
        for (int i = 0; i <= LIMITS.objects(); i++) {
            server.put("a/" + i, "");
        }

        requireFailure(Kind.LIMIT, () -> store.list("a/")).withMessageContaining("more than 100 objects");
    }

    @Test
    void shouldRefuseAListingThatTurnsInCircles() {
        server.replies.put(
                "?",
                (out, request) -> FaultyStore.status(
                        out,
                        "200 OK",
                        "<L><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></L>"));

        requireFailure(Kind.MALFORMED, () -> store.list("")).withMessageContaining("same page");
    }

    @Test
    void shouldRefuseAListingThatNamesFilesOfTheMachine() {
        server.replies.put(
                "?",
                (out, request) -> FaultyStore.status(
                        out,
                        "200 OK",
                        "<!DOCTYPE L [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><L><Contents><Key>&e;</Key></Contents></L>"));

        requireFailure(Kind.MALFORMED, () -> store.list("")).withMessageNotContaining("root:");
    }

    @Test
    void shouldGiveUpOnAStoreThatSaysNothing() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        server.replies.put("?", (out, request) -> await(over));

        requireFailure(Kind.UNAVAILABLE, () -> store.list("")).withMessageContaining("--store-timeout-secs");
        over.countDown();
    }

    @Test
    void shouldGiveUpOnABodyThatStops() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        server.put("a", "0123456789");
        server.replies.put("a", (out, request) -> {
            out.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            out.flush();
            await(over);
        });

        requireFailure(Kind.UNAVAILABLE, () -> fetched(only())).withMessageContaining("within the timeout");
        over.countDown();
    }

    @Test
    void shouldNotFollowRedirects() throws IOException {
        try (FaultyStore inner = FaultyStore.start()) {
            inner.put("a", "0123456789");
            server.put("a", "0123456789");
            server.replies.put(
                    "a", (out, request) -> FaultyStore.status(out, "302 Found", "", "Location: " + inner.http("a")));

            requireFailure(Kind.MALFORMED, () -> fetched(only())).withMessageContaining("redirect");
            assertThat(inner.asked).isEmpty();
        }
    }

    @Test
    void shouldNoticeAnObjectThatChangedSinceItWasListed() throws IOException {
        server.put("a", "0123456789");
        StoredObject listed = only();
        server.put("a", "abcdefghij");

        requireFailure(Kind.CHANGED, () -> fetched(listed));
    }

    @Test
    void shouldNotShowSecretsThatAStoreRepeats() {
        server.replies.put(
                "?",
                (out, request) -> FaultyStore.status(
                        out,
                        "403 Forbidden",
                        "<Error><Code>Denied</Code><Message>not with " + request.get("authorization") + " " + SECRET
                                + "</Message></Error>"));

        requireFailure(Kind.DENIED, () -> store.list(""))
                .withMessageContaining("Denied")
                .withMessageNotContaining(SECRET)
                .withMessageNotContaining("Signature=");
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private StoredObject only() throws IOException {
        return store.list("a").getFirst();
    }

    private Path fetched(StoredObject object) throws IOException {
        Path file = folder.resolve("file");
        Files.deleteIfExists(file);
        store.fetch(object, file, bytes -> {});
        return file;
    }

    private static org.assertj.core.api.ThrowableAssertAlternative<StoreException> requireFailure(
            Kind kind, ThrowingCallable call) {
        return assertThatExceptionOfType(StoreException.class)
                .isThrownBy(call)
                .satisfies(failure -> assertThat(failure.kind()).isEqualTo(kind));
    }
}
