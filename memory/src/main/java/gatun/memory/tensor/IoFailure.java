// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The reasons of file failures in words, which {@code java.nio.file} tells by the class alone. Stateless. */
public final class IoFailure {
    private IoFailure() {}

    /** The reason, for a text that names the file; of other than (wrapped) {@link IOException}s the message. */
    public static String reason(Exception failure) {
        return switch (failure) {
            case UncheckedIOException wrapper -> reason(Objects.requireNonNull(wrapper.getCause()));
            case NoSuchFileException missing -> "no such file or directory";
            case AccessDeniedException denied -> "permission denied";
            case FileAlreadyExistsException present -> "it exists already";
            case DirectoryNotEmptyException full -> "the directory is not empty";
            case NotDirectoryException other -> "not a directory";
            case NotLinkException other -> "not a symbolic link";
            case FileSystemLoopException loop -> "symbolic links lead in a circle";
            case FileSystemException other -> orElse(other.getReason(), other);
            case CharacterCodingException other -> "not UTF-8 text";
            case EOFException end -> end.getMessage() == null ? "it ends too early" : end.getMessage();
            case ClosedByInterruptException interrupt -> "interrupted";
            default -> orElse(failure.getMessage(), failure);
        };
    }

    private static String orElse(@Nullable String told, Exception failure) {
        return told == null ? failure.getClass().getSimpleName() : told;
    }

    /** As {@link #reason}, behind the name of the file that it was, if any. */
    public static String describe(Exception failure) {
        return switch (failure) {
            case UncheckedIOException wrapper -> describe(Objects.requireNonNull(wrapper.getCause()));
            case FileSystemException file -> (file.getFile() == null ? "" : file.getFile() + ": ") + reason(file);
            default -> reason(failure);
        };
    }
}
