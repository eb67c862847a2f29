// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import gatun.it.harness.HttpApi;
import gatun.spi.Backend;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;

/** A folder with models of {@link FragileBackend}, and the jar of that. */
final class FragileModels {
    private final Path folder;

    FragileModels(Path folder) throws IOException {
        this.folder = folder;
        Path jar = Files.createDirectories(backends()).resolve("fragile.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (String name : List.of("FragileBackend", "FragileBackend$Model", "FragileBackend$Instance")) {
                String path = "gatun/it/isolation/" + name + ".class";
                out.putNextEntry(new ZipEntry(path));
                try (InputStream in = FragileBackend.class.getResourceAsStream("/" + path)) {
                    in.transferTo(out);
                }
            }
            out.putNextEntry(new ZipEntry("META-INF/services/" + Backend.class.getName()));
            out.write(FragileBackend.class.getName().getBytes(StandardCharsets.UTF_8));
        }
    }

    Path repository() {
        return folder.resolve("models");
    }

    Path backends() {
        return folder.resolve("backends");
    }

    /** The file that a model makes where a run waits. */
    Path mark() {
        return folder.resolve("mark");
    }

    /** Adds a model that has one instance; {@code more} is added to its configuration. */
    FragileModels model(String name, String... more) throws IOException {
        return unmarkedModel(name, parameter("mark", mark().toString()), String.join("\n", more));
    }

    /** As {@link #model}, without the file that it makes where a run waits. */
    FragileModels unmarkedModel(String name, String... more) throws IOException {
        Path model =
                Files.createDirectories(repository().resolve(name).resolve("1")).getParent();
        Files.writeString(model.resolve("config.pbtxt"), """
                backend: "fragile"
                input { name: "X" data_type: TYPE_FP32 dims: [1] }
                output { name: "Y" data_type: TYPE_FP32 dims: [1] }
                instance_group { count: 1 }
                """ + String.join("\n", more));
        return this;
    }

    static String parameter(String name, String value) {
        return "parameters { key: \"" + name + "\" value { string_value: \"" + value + "\" } }\n";
    }

    static HttpResponse<String> infer(HttpApi http, String model, int x) {
        return http.post("/v2/models/" + model + "/infer", request(x));
    }

    static String request(int x) {
        return "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[" + x + "]}]}";
    }
}
