// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExternalWeightsTest {
    @TempDir
    Path folder;

    private final ByteArrayOutputStream model = new ByteArrayOutputStream();

    @BeforeEach
    void writeFiles() throws IOException {
        Files.createDirectories(folder.resolve("m/below"));
        for (String file : new String[] {"outside.bin", "m/weights.bin", "m/below/more.bin", "m/" + "x".repeat(200)}) {
            Files.writeString(folder.resolve(file), "weights");
        }
    }

    /** An entry of a tensor's external_data. */
    private void entry(String key, String value) throws IOException {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        model.writeBytes(new byte[] {0x0A, (byte) key.length()});
        model.writeBytes(key.getBytes(StandardCharsets.UTF_8));
        model.write(0x12);
        if (bytes.length >= 0x80) {
            model.write((bytes.length & 0x7F) | 0x80);
            model.write(bytes.length >> 7);
        } else {
            model.write(bytes.length);
        }
        model.writeBytes(bytes);
    }

    private Path write() throws IOException {
        return Files.write(folder.resolve("m/model.onnx"), model.toByteArray());
    }

    @Test
    void shouldFindTheFilesThatTensorsLieIn() throws IOException {
        entry("location", "weights.bin");
        entry("offset", "0");
        entry("location", "below/more.bin");
        entry("location", "weights.bin");
        entry("location", "x".repeat(200));
        assertThat(ExternalWeights.of(write()))
                .containsExactly(Path.of("below/more.bin"), Path.of("weights.bin"), Path.of("x".repeat(200)));
    }

    @Test
    void shouldLookNowhereElse() throws IOException {
        entry("location", "../outside.bin");
        entry("location", folder.resolve("outside.bin").toString());
        entry("location", "away.bin");
        entry("location", "below");
        entry("location", "model.onnx");
        entry("location", "a\0b");
        model.writeBytes("\n\blocation\u0012\u007f".getBytes(StandardCharsets.US_ASCII));
        assertThat(ExternalWeights.of(write())).isEmpty();
        assertThat(ExternalWeights.of(Files.createFile(folder.resolve("empty.onnx"))))
                .isEmpty();
    }
}
