// SPDX-License-Identifier: Apache-2.0
package gatun.it.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * An image in the layout of the Open Container Initiative, as its specification describes it: each part is found by the
 * hash of its bytes, which is checked.
 *
 * @param layout the folder with {@code index.json}
 * @param manifest what the image consists of
 * @param configuration how it is run
 */
record OciImage(Path layout, JsonObject manifest, JsonObject configuration) {
    /** Reads the only image of a layout. */
    static OciImage of(Path layout) throws Exception {
        assertThat(layout.resolve("oci-layout")).content().contains("\"imageLayoutVersion\":\"1.0.0\"");
        JsonObject index = json(layout.resolve("index.json"));
        JsonObject manifest =
                json(blob(layout, index.getAsJsonArray("manifests").get(0)));
        return new OciImage(layout, manifest, json(blob(layout, manifest.get("config"))));
    }

    /** Puts the files of all layers where a container would see them, and answers the bytes of what was packed. */
    long unpack(Path root) throws Exception {
        JsonArray layers = manifest.getAsJsonArray("layers");
        JsonArray hashes = configuration.getAsJsonObject("rootfs").getAsJsonArray("diff_ids");
        assertThat(hashes).hasSameSizeAs(layers);
        long packed = 0;
        for (int i = 0; i < layers.size(); i++) {
            Path layer = blob(layout, layers.get(i));
            packed += Files.size(layer);
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            Process tar = new ProcessBuilder("tar", "-x", "-C", root.toString())
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (DigestInputStream in =
                            new DigestInputStream(new GZIPInputStream(Files.newInputStream(layer)), digest);
                    var out = tar.getOutputStream()) {
                in.transferTo(out);
            }
            assertThat(tar.waitFor()).isZero();
            assertThat(hashes.get(i).getAsString())
                    .isEqualTo("sha256:" + HexFormat.of().formatHex(digest.digest()));
        }
        return packed;
    }

    /** The user and group that its program runs as. */
    String user() {
        return configuration.getAsJsonObject("config").get("User").getAsString();
    }

    /** A list of words in how it is run, such as {@code Env}. */
    List<String> list(String name) {
        return configuration.getAsJsonObject("config").getAsJsonArray(name).asList().stream()
                .map(JsonElement::getAsString)
                .toList();
    }

    private static Path blob(Path layout, JsonElement descriptor) throws Exception {
        JsonObject object = descriptor.getAsJsonObject();
        String digest = object.get("digest").getAsString();
        Path file = layout.resolve("blobs").resolve(digest.replace(':', '/'));
        byte[] bytes = Files.readAllBytes(file);
        assertThat(bytes).hasSize(object.get("size").getAsInt());
        assertThat("sha256:"
                        + HexFormat.of()
                                .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
                .isEqualTo(digest);
        return file;
    }

    private static JsonObject json(Path file) throws IOException {
        return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
    }
}
