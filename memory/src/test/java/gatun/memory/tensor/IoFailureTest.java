// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IoFailureTest {
    @TempDir
    Path folder;

    /** Fails, and is to be told by its reason, with the file in front and without. */
    private static void tell(ThrowingCallable call, Path file, String reason) {
        IOException failure = catchThrowableOfType(IOException.class, call);
        assertThat(IoFailure.reason(failure)).isEqualTo(reason);
        assertThat(IoFailure.describe(failure)).isEqualTo(file + ": " + reason);
        assertThat(IoFailure.describe(new UncheckedIOException(failure))).isEqualTo(file + ": " + reason);
    }

    @Test
    void shouldTellWhyAFileCannotBeUsed() throws IOException {
        Path missing = folder.resolve("missing");
        Path file = Files.writeString(folder.resolve("file"), "text");
        Path parent = folder.resolve("parent");
        Files.createDirectories(parent.resolve("child"));
        Path loop = Files.createSymbolicLink(folder.resolve("loop"), folder.resolve("loop"));

        tell(() -> Files.readString(missing), missing, "no such file or directory");
        tell(() -> Files.createDirectory(file), file, "it exists already");
        tell(() -> Files.delete(parent), parent, "the directory is not empty");
        tell(
                () -> {
                    try (DirectoryStream<Path> entries = Files.newDirectoryStream(file)) {
                        entries.iterator().next();
                    }
                },
                file,
                "not a directory");
        tell(() -> Files.readSymbolicLink(file), file, "not a symbolic link");
        tell(() -> Files.readString(file.resolve("below")), file.resolve("below"), "Not a directory");
        tell(
                () -> Files.readString(loop),
                loop,
                "Too many levels of symbolic links or unable to access attributes of" + " symbolic link");
        tell(() -> FileChannel.open(parent, StandardOpenOption.WRITE).close(), parent, "Is a directory");
    }

    @Test
    void shouldTellThatPermissionIsDenied() throws IOException {
        assertThat(IoFailure.describe(new AccessDeniedException("/file"))).isEqualTo("/file: permission denied");
        Path secret = Files.writeString(folder.resolve("secret"), "text");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("---------"));
        assumeFalse(Files.isReadable(secret), "root reads every file");

        tell(() -> Files.readString(secret), secret, "permission denied");
    }

    @Test
    void shouldTellOfFailuresThatNameNoFile() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {(byte) 0xff});
        IOException encoding = catchThrowableOfType(IOException.class, () -> Files.readString(file));

        assertThat(IoFailure.describe(encoding)).isEqualTo("not UTF-8 text");
        assertThat(IoFailure.describe(new EOFException())).isEqualTo("it ends too early");
        assertThat(IoFailure.describe(new IOException("Connection reset"))).isEqualTo("Connection reset");
        assertThat(IoFailure.describe(new IOException())).isEqualTo("IOException");
        assertThat(IoFailure.describe(new FileSystemException(null, null, "No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(IoFailure.describe(GatunException.invalidArgument("the token file is empty")))
                .isEqualTo("the token file is empty");
    }
}
