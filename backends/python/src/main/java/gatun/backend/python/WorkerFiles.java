// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The Python files that run in workers, in a folder of the file system while the engine runs. */
final class WorkerFiles implements AutoCloseable {
    private static final String RESOURCES = "worker/";
    private static final String LIST = "files.txt";
    private static final String MAIN = "gatun_worker.py";
    private static final Set<PosixFilePermission> FOLDER_ABOVE = PosixFilePermissions.fromString("rwx--x--x");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwxr-xr-x");
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-r--r--");

    private final Path folder;
    private final List<Path> files = new ArrayList<>();

    private WorkerFiles(Path folder) {
        this.folder = folder;
    }

    /** Unpacks into {@code folder}, owned by this from now on. Throws UNAVAILABLE when files cannot be written. */
    static WorkerFiles unpack(Path folder) {
        try {
            WorkerFiles files = new WorkerFiles(folder);
            try (InputStream list = resource(LIST)) {
                List<String> names = new String(list.readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList();
                for (String name : names) {
                    files.write(name);
                }
            }
            return files;
        } catch (IOException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the files of backend python could not be unpacked: " + IoFailure.describe(e),
                    e);
        }
    }

    private static InputStream resource(String name) throws IOException {
        InputStream found = WorkerFiles.class.getResourceAsStream(RESOURCES + name);
        if (found == null) {
            throw new IOException("the jar has no " + RESOURCES + name);
        }
        return found;
    }

    private void write(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        try (InputStream content = resource(name)) {
            Files.copy(content, file);
        }
        files.add(file);
    }

    /** Lets other users' processes read them, and pass the folder above. Throws UNAVAILABLE when refused. */
    void openToOthers() {
        try {
            Files.setPosixFilePermissions(folder.resolveSibling("."), FOLDER_ABOVE);
            Files.setPosixFilePermissions(folder, FOLDER);
            for (Path file : files) {
                Files.setPosixFilePermissions(file, FILE);
                Files.setPosixFilePermissions(file.resolveSibling("."), FOLDER);
            }
        } catch (IOException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the files of backend python cannot be opened to another user: " + IoFailure.describe(e),
                    e);
        }
    }

    /** The folder of the files, which may have others of the engine too. */
    Path folder() {
        return folder;
    }

    Path main() {
        return folder.resolve(MAIN);
    }

    @Override
    public void close() {
        if (!Files.exists(folder)) {
            return; // It went with the server's other temporary files.
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new GatunException(ErrorCode.INTERNAL, "the folder " + folder + " could not be deleted", e);
        }
    }
}
