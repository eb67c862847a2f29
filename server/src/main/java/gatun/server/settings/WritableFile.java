// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Files that flags name, and that are written long after the start: whether they can be is said at the start. */
public final class WritableFile {
    private WritableFile() {}

    /** Throws {@link StartException} when the file of {@code flag} cannot be written. Changes nothing on the disk. */
    public static void require(String flag, Path file) {
        boolean there = Files.exists(file);
        if (there && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
            return; // To open a pipe waits for its reader.
        }
        try {
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                    .close();
            if (!there) {
                Files.delete(file.toRealPath());
            }
        } catch (IOException e) {
            throw refusal(flag, file, e);
        }
    }

    /** The error for a file that cannot be written. */
    public static StartException refusal(String flag, Path file, IOException cause) {
        return new StartException(
                flag + "=" + file + " cannot be written: " + IoFailure.reason(cause)
                        + "; name a file in a folder that exists and that this user may write to",
                cause);
    }
}
