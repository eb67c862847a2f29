// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TemporaryFolderTest {
    @TempDir
    Path parent;

    private long folders() throws Exception {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.count();
        }
    }

    @Test
    void shouldRemoveWhatADeadServerLeftAndNothingElse() throws Exception {
        Path dead = Files.createDirectory(parent.resolve("gatun-server-1234"));
        Files.createFile(dead.resolve("lock"));
        Files.createDirectories(dead.resolve("model-1/m/1"));
        Files.writeString(dead.resolve("model-1/m/1/model"), "weights");
        Path other = Files.createDirectory(parent.resolve("gatun-server-of-somebody"));
        try (TemporaryFolder living = new TemporaryFolder(parent);
                TemporaryFolder next = new TemporaryFolder(parent)) {
            Path used = living.newFolder();
            next.removeAbandoned();
            assertThat(dead).doesNotExist();
            assertThat(used).as("of a server that lives").exists();
            assertThat(other).as("without a lock").exists();
        }
        assertThat(folders()).as("after both ended").isEqualTo(1);
    }

    @Test
    void shouldMakeNoFolderUntilItIsNeeded() throws Exception {
        try (TemporaryFolder uploads = new TemporaryFolder(parent)) {
            uploads.removeAbandoned();
            assertThat(folders()).isZero();
            Path first = uploads.newFolder();
            assertThat(uploads.newFolder()).isNotEqualTo(first).hasParent(first.getParent());
            TemporaryFolder.delete(first);
            assertThat(first).doesNotExist();
        }
        assertThat(folders()).isZero();
    }
}
