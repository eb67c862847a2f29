// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Whose a process is, as far as the system tells: it may have ended. */
final class ProcessOwner {
    private static final int NAME_LIMIT = 64;

    private ProcessOwner() {}

    /** Writes the object {@code owner} about a process. */
    static void write(JsonText json, long pid) {
        json.object("owner").member("pid", pid);
        ProcessHandle.of(pid).flatMap(process -> process.info().user()).ifPresent(user -> json.member("user", user));
        name(pid).ifPresent(name -> json.member("name", name));
        json.endObject();
    }

    private static Optional<String> name(long pid) {
        try {
            String name = Files.readString(Path.of("/proc/" + pid + "/comm")).strip();
            return Optional.of(name.length() <= NAME_LIMIT ? name : name.substring(0, NAME_LIMIT));
        } catch (IOException | IllegalArgumentException notTold) {
            return Optional.empty(); // it has ended, or its name is no text
        }
    }
}
