// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerFilesTest {
    @TempDir
    Path parent;

    private static final Path SOURCES = Path.of("src/main/python");
    private static final Path LIST = Path.of("src/main/resources/gatun/backend/python/worker/files.txt");

    /** The files below a folder, by their names from there on. */
    private static List<String> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    private static List<String> sources() throws IOException {
        return files(SOURCES).stream().filter(name -> name.endsWith(".py")).toList();
    }

    @Test
    void shouldListEveryFileOfTheWorker() throws IOException {
        assertThat(sources()).contains("gatun_worker.py", "triton_python_backend_utils.py");
        assertThat(Files.readAllLines(LIST)).containsExactlyInAnyOrderElementsOf(sources());
    }

    @Test
    void shouldUnpackEveryFileAndDeleteAllOfThem() throws IOException {
        Path folder = Files.createDirectory(parent.resolve("python"));
        try (WorkerFiles files = WorkerFiles.unpack(folder)) {
            assertThat(files.folder()).isEqualTo(folder);
            assertThat(files.main()).isEqualTo(folder.resolve("gatun_worker.py"));
            assertThat(files(folder)).isEqualTo(sources());
            for (String name : sources()) {
                assertThat(folder.resolve(name)).hasSameBinaryContentAs(SOURCES.resolve(name));
            }
            Files.createDirectories(folder.resolve("environment/bin"));
            Files.writeString(folder.resolve("environment/bin/python"), "of a model");
        }
        assertThat(folder).doesNotExist();
    }

    @Test
    void shouldNotMissAFolderThatWentWithTheServersOthers() throws IOException {
        Path folder = Files.createDirectory(parent.resolve("python"));
        WorkerFiles files = WorkerFiles.unpack(folder);
        Files.move(folder, parent.resolve("away"));
        files.close();
        assertThat(folder).doesNotExist();
    }
}
