// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux shows shared memory objects as files")
class SharedPictureTest {
    private static final Path PICTURE = Path.of("pictures", "seven-serif.png");

    @Test
    void shouldShowThePictureToEveryoneWhoOpensTheKey() throws IOException {
        DigitPicture picture = DigitPicture.read(PICTURE);
        try (SharedPicture shared = SharedPicture.create()) {
            shared.put(picture);

            byte[] object = Files.readAllBytes(object(shared));
            assertThat(object).hasSize((int) SharedPicture.SIZE);
            ByteBuffer input = ByteBuffer.wrap(object, 0, (int) SharedPicture.INPUT_SIZE);
            assertThat(FloatBytes.toFloats(input)).isEqualTo(picture.pixels());
        }
    }

    @Test
    void shouldReadTheAnswerThatAnotherWriterLeft() throws IOException {
        float[] response = {0, 0, 0, 0, 0, 0, 0, 0.75f, 0.25f, 0};
        try (SharedPicture shared = SharedPicture.create()) {
            byte[] object = Files.readAllBytes(object(shared));
            byte[] bytes = FloatBytes.of(response);
            System.arraycopy(bytes, 0, object, (int) SharedPicture.OUTPUT_OFFSET, bytes.length);
            try (FileChannel channel = FileChannel.open(object(shared), StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(object));
            }

            assertThat(shared.probabilities()).isEqualTo(response);
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenClosed() {
        Path object;
        try (SharedPicture shared = SharedPicture.create()) {
            object = object(shared);
            assertThat(object).exists();
        }
        assertThat(object).doesNotExist();
    }

    @Test
    void shouldBeRemovableTwice() {
        try (SharedPicture shared = SharedPicture.create()) {
            shared.unlink();
            shared.unlink();
            assertThat(object(shared)).doesNotExist();
        }
    }

    private static Path object(SharedPicture shared) {
        return Path.of("/dev/shm" + shared.key());
    }
}
