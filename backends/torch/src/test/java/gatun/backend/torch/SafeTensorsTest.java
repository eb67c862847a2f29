// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SafeTensorsTest {
    @TempDir
    Path folder;

    @AutoClose
    private final Arena arena = Arena.ofShared();

    private SafeTensors file(String header, int more) throws IOException {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + text.length + more).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(text.length).put(text);
        while (bytes.hasRemaining()) {
            bytes.put((byte) bytes.remaining());
        }
        return SafeTensors.map(Files.write(folder.resolve("model.safetensors"), bytes.array()), arena);
    }

    @Test
    void shouldFindWeights() throws IOException {
        SafeTensors file = file(
                "{\"__metadata__\": {\"format\": \"pt\"}, \"a\": {\"dtype\": \"U8\", \"shape\": [2, 1],"
                        + " \"data_offsets\": [1, 3]}}",
                3);
        SafeTensors.Entry entry = file.find("a");
        assertThat(entry.datatype()).isEqualTo(Datatype.UINT8);
        assertThat(entry.shape()).isEqualTo(Shape.of(2, 1));
        assertThat(entry.bytes().toArray(ValueLayout.JAVA_BYTE)).containsExactly(2, 1);
        assertThatThrownBy(() -> file.find("b")).hasMessageContaining("model.safetensors has no weight 'b'");
    }

    @Test
    void shouldRefuseWhatReachesBeyondTheFile() throws IOException {
        for (String wrong : new String[] {
            "{\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": [0, 4]}",
            "{\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [-1, 1]}",
            "{\"dtype\": \"U8\", \"shape\": [3], \"data_offsets\": [0, 2]}",
            "{\"dtype\": \"F32\", \"shape\": [4611686018427387904, 4], \"data_offsets\": [0, 0]}",
            "{\"dtype\": \"U8\", \"shape\": [-1], \"data_offsets\": [3, 2]}",
            "{\"dtype\": \"F7\", \"shape\": [1], \"data_offsets\": [0, 1]}",
            "{\"dtype\": \"U8\", \"shape\": \"x\", \"data_offsets\": [0, 1]}",
            "{}"
        }) {
            SafeTensors file = file("{\"a\": " + wrong + "}", 3);
            assertThatThrownBy(() -> file.find("a")).as(wrong).isInstanceOf(GatunException.class);
        }
    }

    @Test
    void shouldRefuseOtherFiles() throws IOException {
        Path path = folder.resolve("model.safetensors");
        for (byte[] wrong :
                new byte[][] {{}, {1, 2, 3}, {-1, -1, -1, -1, -1, -1, -1, -1}, {9, 0, 0, 0, 0, 0, 0, 0, '{'}}) {
            Files.write(path, wrong);
            assertThatThrownBy(() -> SafeTensors.map(path, arena))
                    .isInstanceOf(GatunException.class)
                    .hasMessageContaining("cannot be read as safetensors");
        }
        assertThatThrownBy(() -> file("[1]", 0)).hasMessageContaining("no JSON object");
        assertThatThrownBy(() -> file("{\"a\"", 0)).hasMessageContaining("no JSON");
    }
}
