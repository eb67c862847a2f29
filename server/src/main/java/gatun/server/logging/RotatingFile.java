// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import gatun.server.settings.LoggingSettings.LogRotation;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file that lines are appended to. A {@linkplain #flush flush} moves it to {@code FILE.1}, and that to {@code FILE.2}
 * and so on, once it has its size. Pipes and the like are only appended to. Not thread-safe.
 */
final class RotatingFile extends OutputStream {
    private final Path file;
    private final LogRotation rotation;
    private OutputStream target;
    private long byteSize;

    /** Opens {@code file}; waits for a reader where it is a pipe. Throws when it cannot be written. */
    RotatingFile(Path file, LogRotation rotation) throws IOException {
        this.file = file;
        this.rotation = rotation;
        this.target = append();
    }

    /** Opens the file anew, after it was moved away. When that throws, the present one stays in use. */
    void reopen() throws IOException {
        OutputStream before = target;
        target = append();
        before.close();
    }

    private OutputStream append() throws IOException {
        OutputStream opened = new FileOutputStream(file.toFile(), true);
        byteSize = Files.isRegularFile(file) ? Files.size(file) : 0;
        return opened;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        target.write(bytes, offset, count);
        byteSize += count;
    }

    /** A whole line has been written: begins the file anew if it is time. */
    @Override
    public void flush() throws IOException {
        target.flush();
        if (rotation.byteSize() > 0 && byteSize >= rotation.byteSize() && Files.isRegularFile(file)) {
            rotate();
        }
    }

    private void rotate() throws IOException {
        byteSize = 0; // where that fails, it is tried again after as many bytes
        for (int number = rotation.files() - 1; number >= 1; number--) {
            Path from = numbered(number);
            if (Files.exists(from)) {
                Files.move(from, numbered(number + 1), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.move(file, numbered(1), StandardCopyOption.REPLACE_EXISTING);
        reopen();
    }

    private Path numbered(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    @Override
    public void close() throws IOException {
        target.close();
    }
}
