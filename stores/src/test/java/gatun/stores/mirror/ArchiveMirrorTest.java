// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import gatun.stores.FaultyStore;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.Checksum;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.mirror.Mirrors.Fetching;
import gatun.stores.mirror.StoreMirror.Scope;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveMirrorTest {
    private static final Fetching FETCHING = new Fetching(Duration.ofSeconds(1), 4, FetchProgress.NONE, Map.of());

    @TempDir
    Path folder;

    private StoreCache cache;

    @BeforeEach
    void start() throws IOException {
        cache = StoreCache.open(folder.resolve("cache"), 1 << 20);
    }

    @AfterEach
    void stop() throws IOException {
        cache.close();
    }

    @Test
    void shouldServeAnArchiveOfOneModelByItsName() throws IOException {
        Path archive = Files.write(folder.resolve("resnet.zip"), zip("1/model.onnx"));
        try (Mirror mirror = open(archive.toUri().toString(), Scope.REPOSITORY)) {
            mirror.start();

            assertThat(mirror.folder().resolve("resnet/1/model.onnx")).hasContent("content");
        }
        try (Mirror mirror = open(archive.toUri().toString(), Scope.MODEL)) {
            mirror.start();

            assertThat(mirror.folder().resolve("1/model.onnx")).hasContent("content");
        }
    }

    @Test
    void shouldLookForARepositoryInTheOnlyFolder() throws IOException {
        Path archive = Files.write(
                folder.resolve("all.zip"),
                zip("models/a/1/m", "models/b/config.pbtxt", "__MACOSX/._models", "models/__MACOSX/1/m"));
        try (Mirror mirror = open(archive.toUri().toString(), Scope.REPOSITORY)) {
            mirror.start();

            assertThat(mirror.folder().resolve("a/1/m")).exists();
            assertThat(mirror.folder().resolve("b/config.pbtxt")).exists();
            assertThat(mirror.folder().resolve("__MACOSX")).doesNotExist();
        }
    }

    @Test
    void shouldFetchAnArchiveAgainOnlyWhenItChanged() throws IOException {
        try (FaultyStore server = FaultyStore.start()) {
            server.objects.put("m.zip", zip("a/1/m"));
            try (Mirror mirror = open(url(server), Scope.REPOSITORY)) {
                mirror.start();
                server.asked.clear();
                mirror.refresh();

                // Only a look at its first byte.
                assertThat(server.asked).containsExactly("m.zip from 0");
                assertThat(mirror.folder().resolve("a/1/m")).hasContent("content");
            }
        }
    }

    @Test
    void shouldRefuseAnArchiveThatIsNotTheOneThatWasNamed() throws IOException {
        try (FaultyStore server = FaultyStore.start()) {
            server.objects.put("m.zip", zip("a/1/m"));
            String other = url(server);
            server.objects.put("m.zip", zip("a/1/other"));
            try (Mirror mirror = open(other, Scope.REPOSITORY)) {
                assertThatIOException().isThrownBy(mirror::start).withMessageContaining("SHA-256");
            }
        }
    }

    @Test
    void shouldNotUnpackAgainWhatItRefused() throws IOException {
        Path archive = Files.write(folder.resolve("m.zip"), zip("a/1/m", "../outside"));
        try (Mirror mirror = open(archive.toUri().toString(), Scope.REPOSITORY)) {
            assertThatIOException().isThrownBy(mirror::start).withMessageContaining("'../outside'");
            long names = Long.parseLong(cache.staging().getFileName().toString());

            assertThatIOException().isThrownBy(mirror::refresh).withMessageContaining("'../outside'");

            assertThat(cache.staging()).hasFileName(Long.toString(names + 1));
            Files.write(archive, zip("a/1/m", "a/1/other"));
            mirror.refresh();
            assertThat(mirror.folder().resolve("a/1/other")).hasContent("content");
        }
    }

    @Test
    void shouldRefuseLongHeadersOfResponses() throws IOException {
        try (FaultyStore server = FaultyStore.start()) {
            server.objects.put("m.zip", zip("a/1/m"));
            String url = url(server);
            server.replies.put(
                    "m.zip",
                    (out, request) -> FaultyStore.status(
                            out, "302 Found", "", "Location: http://example.com/" + "a".repeat(9000)));
            try (Mirror mirror = open(url, Scope.REPOSITORY)) {
                assertThatIOException().isThrownBy(mirror::start).withMessageContaining("leads to a URL of 9019");
            }
            server.replies.put(
                    "m.zip",
                    (out, request) -> FaultyStore.status(out, "200 OK", "", "ETag: \"" + "a".repeat(600) + "\""));
            try (Mirror mirror = open(url, Scope.REPOSITORY)) {
                assertThatIOException().isThrownBy(mirror::start).withMessageContaining("an ETag of 602 characters");
            }
        }
    }

    @Test
    void shouldNotFollowARedirectToAnotherKindOfUrl() throws IOException {
        try (FaultyStore server = FaultyStore.start()) {
            server.objects.put("m.zip", zip("a/1/m"));
            String url = url(server);
            server.replies.put(
                    "m.zip",
                    (out, request) -> FaultyStore.status(
                            out, "302 Found", "", "Location: http://169.254.169.254/latest/meta-data"));
            try (Mirror mirror = open(url, Scope.REPOSITORY)) {
                assertThatIOException().isThrownBy(mirror::start).withMessageContaining("address of this network");
            }
            server.replies.put(
                    "m.zip",
                    (out, request) -> FaultyStore.status(out, "302 Found", "", "Location: file:///etc/passwd"));
            try (Mirror mirror = open(url, Scope.REPOSITORY)) {
                assertThatIOException().isThrownBy(mirror::start).withMessageContaining("another kind of URL");
            }
        }
    }

    @Test
    void shouldPullIntoAFolderAsAWholeOrNotAtAll() throws IOException {
        Path archive = Files.write(folder.resolve("good.zip"), zip("a/1/m"));
        Path bad = Files.write(folder.resolve("bad.zip"), zip("a/1/m", "../outside"));
        Path target = folder.resolve("models/of/mine");

        Mirrors.pull(RepositoryLocation.parse(archive.toUri().toString()), target, FETCHING, 1 << 20);

        assertThat(target.resolve("a/1/m")).hasContent("content");
        Path other = folder.resolve("models/others");
        assertThatIOException()
                .isThrownBy(
                        () -> Mirrors.pull(RepositoryLocation.parse(bad.toUri().toString()), other, FETCHING, 1 << 20));
        assertThat(other).doesNotExist();
        assertThatIOException()
                .isThrownBy(() ->
                        Mirrors.pull(RepositoryLocation.parse(archive.toUri().toString()), target, FETCHING, 1 << 20))
                .withMessageContaining("not empty");
        assertThat(folder.resolve("models")).isDirectoryNotContaining("glob:**/.gatun-pull*");
    }

    private Mirror open(String url, Scope scope) throws IOException {
        return new Mirrors(cache, FETCHING, name -> !name.equals("__MACOSX"))
                .open(RepositoryLocation.parse(url), scope);
    }

    /** With the checksum of what is there now. */
    private String url(FaultyStore server) throws IOException {
        Path file = Files.write(folder.resolve("for-the-checksum"), server.objects.get("m.zip"));
        return server.http("m.zip") + "#sha256="
                + Checksum.of(Checksum.Algorithm.SHA256, file).hex();
    }

    private static byte[] zip(String... names) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes)) {
            for (String name : names) {
                out.putNextEntry(new ZipEntry(name));
                out.write("content".getBytes(StandardCharsets.UTF_8));
            }
        }
        return bytes.toByteArray();
    }
}
