// SPDX-License-Identifier: Apache-2.0
package gatun.stores.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreCacheTest {
    @TempDir
    Path folder;

    @Test
    void shouldKeepFilesAndTextsFromOneStartToTheNext() throws IOException {
        String key = StoreCache.key("a", "b");
        try (StoreCache cache = StoreCache.open(folder, 100)) {
            cache.admit(Files.writeString(cache.staging(), "content"), key);
            cache.remember(key, "text");
        }
        try (StoreCache cache = StoreCache.open(folder, 100)) {
            Path link = cache.newParent().resolve("link");

            assertThat(cache.link(key, 7, link)).isTrue();
            assertThat(link).hasContent("content");
            assertThat(cache.link(key, 8, link.resolveSibling("other"))).isFalse();
            assertThat(cache.recall(key).orElseThrow().text()).isEqualTo("text");
        }
    }

    @Test
    void shouldRemoveWhatAServerLeftThatDied() throws IOException {
        StoreCache.open(folder, 100).close();
        Path dead = Files.createDirectories(folder.resolve("servers/server-1/staging"));
        Files.writeString(dead.resolve("1"), "half a file");
        Files.createFile(dead.resolveSibling("lock"));
        try (StoreCache living = StoreCache.open(folder, 100);
                StoreCache other = StoreCache.open(folder, 100);
                Stream<Path> servers = Files.list(folder.resolve("servers"))) {
            assertThat(dead).doesNotExist();
            assertThat(servers).hasSize(2);
            assertThat(living.staging().getParent())
                    .isNotEqualTo(other.staging().getParent())
                    .exists();
        }
    }

    @Test
    void shouldSayWhichFolderCannotBeUsed() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        assertThatIOException()
                .isThrownBy(() -> StoreCache.open(file.resolve("cache"), 100))
                .withMessageContaining("--store-cache-dir");
    }
}
