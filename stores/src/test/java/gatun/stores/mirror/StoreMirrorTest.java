// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import gatun.stores.FaultyStore;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.mirror.Mirrors.Fetching;
import gatun.stores.mirror.StoreMirror.Scope;
import gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreMirrorTest {
    private static final long BYTE_LIMIT = 1000;

    @TempDir
    Path folder;

    private FaultyStore server;
    private StoreCache cache;

    @BeforeEach
    void start() throws IOException {
        server = FaultyStore.start();
        cache = StoreCache.open(folder, BYTE_LIMIT);
    }

    @AfterEach
    void stop() throws IOException {
        cache.close();
        server.close();
    }

    private Mirror mirror(StoreCache keeping, String path) throws IOException {
        Fetching fetching =
                new Fetching(Duration.ofSeconds(1), 4, FetchProgress.NONE, Map.of("AWS_EC2_METADATA_DISABLED", "true"));
        return new Mirrors(keeping, fetching, name -> !name.equals("__MACOSX"))
                .open(RepositoryLocation.parse(server.url(path)), Scope.REPOSITORY);
    }

    private Mirror mirror() throws IOException {
        return mirror(cache, "repo");
    }

    @Test
    void shouldFetchOnlyWhatChanged() throws IOException {
        server.put("repo/a/1/model.onnx", "weights");
        server.put("repo/a/config.pbtxt", "first");
        server.put("repo/b/1/model.onnx", "others");
        server.put("repo/README.md", "of no model");
        try (Mirror mirror = mirror()) {
            mirror.start();
            Path before = mirror.folder().resolve("a").toRealPath();
            Path other = mirror.folder().resolve("b").toRealPath();
            server.asked.clear();
            server.put("repo/a/config.pbtxt", "second");

            mirror.refresh();

            assertThat(server.asked).containsExactly("repo/a/config.pbtxt from 0");
            assertThat(mirror.folder().resolve("a/config.pbtxt")).hasContent("second");
            assertThat(mirror.folder().resolve("a/1/model.onnx")).hasContent("weights");
            assertThat(mirror.folder().resolve("b").toRealPath()).isEqualTo(other);
            // For a load that is reading it.
            assertThat(before.resolve("config.pbtxt")).hasContent("first");
            assertThat(names(mirror.folder())).containsExactly("a", "b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1/model.onnx", "config.pbtxt"})
    void shouldTellTheFolderOfOneModelFromARepository(String file) throws IOException {
        server.put("repo/a/" + file, "content");
        server.put("repo/b/1/model.onnx", "content");
        try (Mirror repository = mirror();
                Mirror model = mirror(cache, "repo/a")) {
            repository.start();
            try {
                model.start();
            } catch (StoreException e) {
                assertThat(e).hasMessageContaining("holds no models");
            }

            assertThat(repository.holdsOneModel()).isFalse();
            assertThat(model.holdsOneModel()).isTrue();
        }
    }

    @Test
    void shouldTellTheFolderOfOneModelByItsNames() throws IOException {
        server.put("repo/a/1/model.onnx", "content");
        server.put("repo/__MACOSX/1/m", "content");
        try (Mirror repository = mirror();
                Mirror model = mirror(cache, "repo/a")) {
            repository.refreshNames();
            model.refreshNames();

            assertThat(repository.holdsOneModel()).isFalse();
            assertThat(names(repository.folder())).containsExactly("a");
            assertThat(model.holdsOneModel()).isTrue();
        }
    }

    @Test
    void shouldTellHowMuchOfAModelHasCome() throws Exception {
        byte[] weights = "0123456789".getBytes(StandardCharsets.UTF_8);
        CountDownLatch seen = new CountDownLatch(1);
        server.put("repo/a/1/model.onnx", "0123456789");
        server.put("repo/a/config.pbtxt", "text");
        server.replies.put("repo/a/1/model.onnx", (out, request) -> {
            FaultyStore.content(out, request, weights, 6);
            out.flush();
            try {
                seen.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            out.write(weights, 6, 4);
        });
        FetchWatch watch = new FetchWatch(FetchProgress.NONE);
        Fetching fetching = new Fetching(Duration.ofSeconds(60), 4, watch, Map.of("AWS_EC2_METADATA_DISABLED", "true"));
        try (Mirror mirror = new Mirrors(cache, fetching, name -> !name.equals("__MACOSX"))
                .open(RepositoryLocation.parse(server.url("repo")), Scope.REPOSITORY)) {
            CompletableFuture<Boolean> fetched = CompletableFuture.supplyAsync(() -> {
                try {
                    mirror.refresh("a");
                    return true;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Await.until(
                    "a part", () -> watch.running().stream().anyMatch(state -> state.bytes() == 6 + "text".length()));
            assertThat(watch.running()).singleElement().satisfies(state -> {
                assertThat(state.models()).containsExactly("a");
                assertThat(state.totalBytes()).isEqualTo(10 + "text".length());
                assertThat(state.beganMillis()).isPositive();
            });
            seen.countDown();
            assertThat(fetched.join()).isTrue();
            assertThat(mirror.folder().resolve("a/1/model.onnx")).hasContent("0123456789");
            assertThat(watch.running()).isEmpty();
        } finally {
            seen.countDown();
        }
    }

    @Test
    void shouldFollowModelsThatComeAndGo() throws IOException {
        server.put("repo/a/1/m", "a");
        try (Mirror mirror = mirror()) {
            mirror.start();
            server.put("repo/b/1/m", "b");
            server.objects.remove("repo/a/1/m");

            mirror.refresh();

            assertThat(names(mirror.folder())).containsExactly("b");
        }
    }

    @Test
    void shouldLeaveModelsWhenTheListingIsEmptyAllAtOnce() throws IOException {
        server.put("repo/a/1/m", "a");
        try (Mirror mirror = mirror()) {
            mirror.start();
            server.objects.clear();

            mirror.refresh();

            assertThat(mirror.folder().resolve("a/1/m")).hasContent("a");
        }
    }

    @Test
    void shouldNoticeAnOlderFileThatComesBack() throws IOException {
        server.put("repo/a/1/m", "first");
        try (Mirror mirror = mirror()) {
            mirror.start();
            server.put("repo/a/1/m", "secnd");
            mirror.refresh();
            var between = Files.getLastModifiedTime(mirror.folder().resolve("a/1/m"));
            server.put("repo/a/1/m", "first");
            server.asked.clear();

            mirror.refresh();

            assertThat(server.asked).isEmpty();
            assertThat(mirror.folder().resolve("a/1/m")).hasContent("first");
            assertThat(Files.getLastModifiedTime(mirror.folder().resolve("a/1/m")))
                    .isGreaterThan(between);
        }
    }

    @Test
    void shouldRefuseModelsWithNamesThatNoFileCanHave() throws IOException {
        server.put("repo/good/1/m", "good");
        for (String name : List.of(
                "bad1/../../../escape",
                "bad2//1/m",
                "bad3/./m",
                "bad4/a\u0000b",
                "bad5/" + "x".repeat(256),
                "bad6/a",
                "bad6/a/b",
                "../bad7/m",
                "bad8/a\nb")) {
            server.put("repo/" + name, "bad");
        }
        try (Mirror mirror = mirror()) {
            mirror.start();

            assertThat(names(mirror.folder())).containsExactly("good");
            assertThat(mirror.failures().keySet())
                    .contains("bad1", "bad2", "bad3", "bad4", "bad5", "bad6", "..", "bad8");
        }
        try (Stream<Path> all = Files.walk(folder)) {
            assertThat(all.filter(path -> path.endsWith("escape"))).isEmpty();
        }
    }

    @Test
    void shouldTakeNamesThatDifferByCaseOrStandForFolders() throws IOException {
        server.put("repo/a/1/Model", "upper");
        server.put("repo/a/1/model", "lower");
        server.put("repo/a/1/", "");
        server.put("repo/a/", "");
        try (Mirror mirror = mirror()) {
            mirror.start();

            assertThat(mirror.folder().resolve("a/1/Model")).hasContent("upper");
            assertThat(mirror.folder().resolve("a/1/model")).hasContent("lower");
        }
    }

    @Test
    void shouldLeaveAModelWhoseNewFilesCannotBeHad() throws IOException {
        server.put("repo/a/1/m", "first");
        server.put("repo/b/1/m", "first");
        try (Mirror mirror = mirror()) {
            mirror.start();
            server.put("repo/a/1/m", "second");
            server.put("repo/b/1/m", "second");
            server.replies.put("repo/a/1/m", (out, request) -> FaultyStore.status(out, "200 OK", "damage"));

            mirror.refresh();

            assertThat(mirror.folder().resolve("a/1/m")).hasContent("first");
            assertThat(mirror.folder().resolve("b/1/m")).hasContent("second");
            assertThat(mirror.failures()).containsOnlyKeys("a");
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> mirror.refresh("a"))
                    .withMessageContaining("arrived damaged");
        }
    }

    @Test
    void shouldFetchSingleModelsWhereOnlyNamesAreKnown() throws IOException {
        server.put("repo/a/1/m", "a");
        server.put("repo/b/1/m", "b");
        try (Mirror mirror = mirror()) {
            mirror.refreshNames();
            assertThat(names(mirror.folder())).containsExactly("a", "b");
            assertThat(server.asked).isEmpty();

            mirror.refresh("b");

            assertThat(server.asked).containsExactly("repo/b/1/m from 0");
            assertThat(mirror.folder().resolve("b/1/m")).hasContent("b");
            assertThat(mirror.folder().resolve("a")).isEmptyDirectory();
        }
    }

    @Test
    void shouldStartFromTheCacheWhenTheStoreIsGone() throws IOException {
        server.put("repo/a/1/m", "a");
        Mirror first = mirror();
        first.start();
        first.close();
        cache.close();
        cache = StoreCache.open(folder, BYTE_LIMIT);
        server.replies.put("?", (out, request) -> FaultyStore.status(out, "503 Slow Down", ""));
        server.asked.clear();
        try (Mirror mirror = mirror()) {
            mirror.start();

            assertThat(mirror.folder().resolve("a/1/m")).hasContent("a");
            assertThat(server.asked).isEmpty();
        }
        try (Mirror mirror = mirror()) {
            mirror.refreshNames();

            assertThat(mirror.folder().resolve("a/1/m")).hasContent("a");
        }
    }

    @Test
    void shouldNotStartFromTheCacheWhenTheStoreRefuses() throws IOException {
        server.put("repo/a/1/m", "a");
        Mirror first = mirror();
        first.start();
        first.close();
        server.replies.put("?", (out, request) -> FaultyStore.status(out, "403 Forbidden", ""));
        try (Mirror mirror = mirror()) {
            assertThatIOException().isThrownBy(mirror::start).withMessageContaining("check the credentials");
        }
    }

    @Test
    void shouldRefuseMoreThanTheCacheMayHoldBeforeAnythingComes() throws IOException {
        server.put("repo/a/1/m", "a");
        server.rumours.put("repo/b/1/huge", Long.MAX_VALUE);
        try (Mirror mirror = mirror()) {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(mirror::start)
                    .satisfies(failure -> assertThat(failure.kind()).isEqualTo(Kind.LIMIT))
                    .withMessageContaining("--store-cache-byte-size");
            assertThat(server.asked).isEmpty();
        }
    }

    @Test
    void shouldMakeRoomByFilesThatNobodyUses() throws IOException {
        server.put("one/a/1/m", "1".repeat(400));
        server.put("two/a/1/m", "2".repeat(400));
        server.put("three/a/1/m", "3".repeat(400));
        try (StoreCache ended = StoreCache.open(folder, BYTE_LIMIT);
                Mirror mirror = mirror(ended, "one")) {
            mirror.start();
        }
        try (Mirror two = mirror(cache, "two");
                Mirror three = mirror(cache, "three")) {
            two.start();
            three.start();

            assertThat(two.folder().resolve("a/1/m")).exists();
            server.asked.clear();
            // Those of "one" had to go; neither of the others may, as both are in use.
            try (Mirror again = mirror(cache, "one")) {
                assertThatExceptionOfType(StoreException.class)
                        .isThrownBy(again::start)
                        .satisfies(failure -> assertThat(failure.kind()).isEqualTo(Kind.LIMIT));
            }
        }
    }

    private static List<String> names(Path of) throws IOException {
        try (Stream<Path> entries = Files.list(of)) {
            return entries.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
