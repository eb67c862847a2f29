// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A model repository that a test fills and changes under the eyes of a server. */
public record ModelRepositoryFolder(Path path) {
    /** The model file of the example {@code simple}. */
    public static byte[] simpleModelFile() throws IOException {
        return Files.readAllBytes(ServerProcess.exampleModels().resolve("simple/1/model.onnx"));
    }

    /** The configuration of the example {@code simple}, without its name. */
    public static String simpleConfig() throws IOException {
        return Files.readString(ServerProcess.exampleModels().resolve("simple/config.pbtxt"))
                .replace("name: \"simple\"", "");
    }

    /** Adds the example {@code simple} under another name, or more versions of it. */
    public void simple(String name, String moreConfig, int... versions) throws IOException {
        Files.createDirectories(path.resolve(name));
        for (int version : versions) {
            // As operators should: the version appears whole.
            Path unfinished = Files.createDirectories(path.resolve(name).resolve("unfinished"));
            Files.write(unfinished.resolve("model.onnx"), simpleModelFile());
            Files.move(unfinished, path.resolve(name).resolve(Integer.toString(version)));
        }
        config(name, simpleConfig() + moreConfig);
    }

    /** Adds a model that answers with its input after a time. */
    public void delay(String name, int millis) throws IOException {
        Files.createDirectories(path.resolve(name).resolve("1"));
        config(name, """
                backend: "delay"
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                parameters { key: "execute_delay_ms" value { string_value: "%d" } }
                """.formatted(millis));
    }

    /** Writes a model's configuration, with a modification time that no earlier one had. */
    public void config(String name, String text) throws IOException {
        Path file = path.resolve(name).resolve("config.pbtxt");
        FileTime before = Files.exists(file) ? Files.getLastModifiedTime(file) : FileTime.fromMillis(0);
        Path unfinished = Files.writeString(path.resolve(name).resolve("config.new"), text);
        if (Files.getLastModifiedTime(unfinished).compareTo(before) <= 0) {
            Files.setLastModifiedTime(unfinished, FileTime.fromMillis(before.toMillis() + 1000));
        }
        Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Takes a model away. */
    public void remove(String name) throws IOException {
        Path gone = Files.move(path.resolve(name), path.resolve("." + name));
        try (Stream<Path> below = Files.walk(gone)) {
            List<Path> paths = below.sorted(Comparator.reverseOrder()).toList();
            for (Path file : paths) {
                Files.delete(file);
            }
        }
    }
}
