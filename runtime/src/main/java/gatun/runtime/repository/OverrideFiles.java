// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/** A load request's files, in a private directory, until the model is unloaded, since engines want files. */
final class OverrideFiles {
    private static final int WINDOW = 1 << 20;

    private final Path root;
    private final ModelDirectory directory;

    private OverrideFiles(Path root, ModelDirectory directory) {
        this.root = root;
        this.directory = directory;
    }

    /** Writes contents by path. Throws INVALID_ARGUMENT for one that leads out of the folder, INTERNAL on failure. */
    static OverrideFiles write(TemporaryFolder uploads, String model, Map<String, MemorySegment> files) {
        Path root;
        try {
            root = uploads.newFolder();
        } catch (IOException e) {
            throw cannotWrite(model, e);
        }
        OverrideFiles written =
                new OverrideFiles(root, ModelDirectory.inRepository(ModelIdentifier.of(model), root.resolve(model)));
        try {
            Files.createDirectory(written.directory.path());
            for (Map.Entry<String, MemorySegment> file : files.entrySet()) {
                Path path = written.path(file.getKey());
                Files.createDirectories(path.getParent());
                write(path, file.getValue());
            }
            return written;
        } catch (IOException e) {
            written.delete();
            throw cannotWrite(model, e);
        } catch (RuntimeException | Error e) {
            written.delete();
            throw e;
        }
    }

    /** A window at a time: through it, native memory is written without a copy of it on the heap. */
    private static void write(Path path, MemorySegment content) throws IOException {
        try (FileChannel file = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            for (long at = 0; at < content.byteSize(); at += WINDOW) {
                ByteBuffer window = content.asSlice(at, Math.min(WINDOW, content.byteSize() - at))
                        .asByteBuffer();
                while (window.hasRemaining()) {
                    file.write(window);
                }
            }
        }
    }

    private static GatunException cannotWrite(String model, IOException e) {
        return new GatunException(
                ErrorCode.INTERNAL, "the files of model '" + model + "' cannot be written on the server", e);
    }

    private Path path(String name) {
        Path base = directory.path();
        try {
            Path path = base.resolve(name).normalize();
            if (path.startsWith(base) && !path.equals(base)) {
                return path;
            }
        } catch (InvalidPathException e) {
            // Said below, in the words of the request.
        }
        throw GatunException.invalidArgument("load parameter 'file:" + name.replace('\0', '?')
                + "' does not name a file in the model's directory; expected file:<version>/<path>");
    }

    ModelDirectory directory() {
        return directory;
    }

    /** Removes them; files that are mapped stay readable for who mapped them. May be called again. */
    void delete() {
        TemporaryFolder.delete(root);
    }
}
