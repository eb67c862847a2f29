// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Whose an object of shared memory with a name is. Which process made it, nobody knows. */
final class ObjectOwner {
    /** Where the system shows such objects. */
    private static final Path FOLDER = Path.of("/dev/shm");

    private ObjectOwner() {}

    /**
     * Writes the object {@code owner} about a user.
     *
     * @param key the name that the object had when it was opened
     * @param user the number of the user whose it was then
     */
    static void write(JsonText json, String key, long user) {
        json.object("owner")
                .member("user", name(key, user).orElseGet(() -> Long.toString(user)))
                .endObject();
    }

    /** The user's name, as the system tells it of the object; empty when that is another's now, or gone. */
    private static Optional<String> name(String key, long user) {
        try {
            Map<String, Object> attributes =
                    Files.readAttributes(FOLDER.resolve(key.replaceFirst("^/+", "")), "unix:uid,owner");
            return attributes.get("uid") instanceof Integer uid && Integer.toUnsignedLong(uid) == user
                    ? Optional.of(String.valueOf(attributes.get("owner")))
                    : Optional.empty();
        } catch (IOException | InvalidPathException | UnsupportedOperationException notTold) {
            return Optional.empty();
        }
    }
}
