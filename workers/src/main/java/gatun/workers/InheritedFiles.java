// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.buffers.SharedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Files in memory that a worker has open from its start, by descriptors from {@link #FIRST} on. A worker of another
 * user could not open them; a shell does, still as the server's user, and then becomes the worker. Not thread-safe.
 */
public final class InheritedFiles {
    /** The descriptor of the first; those before are of standard input, output and errors, and of frames. */
    public static final int FIRST = 4;

    /** The last descriptor that every shell can name. */
    private static final int LAST = 9;

    private final List<String> redirections = new ArrayList<>();
    private final List<String> reopened = new ArrayList<>();

    /** None yet. */
    public InheritedFiles() {}

    /** Adds a file, which the worker may write to. */
    public InheritedFiles add(SharedFile file) {
        return add("<>", file);
    }

    /** Adds a file to read only. Throws {@link UncheckedIOException} when it cannot be kept from other users. */
    public InheritedFiles addToRead(SharedFile file) {
        try {
            // Otherwise any user who has it open to read may open it anew to write.
            Files.setPosixFilePermissions(file.path(), PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return add("<", file);
    }

    private InheritedFiles add(String mode, SharedFile file) {
        int descriptor = FIRST + redirections.size();
        if (descriptor > LAST) {
            throw new IllegalStateException("a worker can inherit " + redirections.size() + " files at most");
        }
        redirections.add(descriptor + mode + file.path());
        return this;
    }

    /** Adds a pipe of the worker's that it opens anew by its name, which another user may only with one of its own. */
    public InheritedFiles reopen(int descriptor) {
        reopened.add("/proc/self/fd/" + descriptor);
        return this;
    }

    /** A shell's command that becomes {@code program} as {@code user}, with redirections and then these files open. */
    List<String> command(String redirections, Optional<WorkerUser> user, List<String> program) {
        String script = "exec " + redirections + " " + String.join(" ", this.redirections) + "; "
                + user.filter(other -> !reopened.isEmpty())
                        .map(other -> "chown " + other.uid() + " " + String.join(" ", reopened) + "; ")
                        .orElse("")
                + "exec \"$@\"";
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", script, "gatun-worker"));
        user.ifPresent(other -> command.addAll(other.command()));
        command.addAll(program);
        return command;
    }
}
