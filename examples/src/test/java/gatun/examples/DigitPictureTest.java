// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigitPictureTest {
    private static final Path PICTURES = Path.of("pictures");

    /** Half a percent of the colours' range: the expected pictures are stored in 256 steps. */
    private static final float ROUNDING = 1.5f / 255;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zero-mono",
                "one-hand",
                "two-faint",
                "three-script",
                "four-marker",
                "four-transparent",
                "five-sans",
                "six-pencil",
                "seven-hand",
                "seven-serif",
                "eight-chalk",
                "nine-handwriting",
                "nine-tiny"
            })
    void shouldPrepareAPictureAsTheTrainingDoes(String name) throws IOException {
        float[] expected = stored(name + ".prepared.png");

        assertThat(DigitPicture.read(PICTURES.resolve(name + ".png")).pixels())
                .containsExactly(expected, within(ROUNDING));
    }

    @Test
    void shouldSeeTheSameInkOnWhiteAndOnBlackPaper() {
        DigitPicture dark = DigitPicture.of(bar(Color.BLACK, Color.WHITE));
        DigitPicture light = DigitPicture.of(bar(Color.WHITE, Color.BLACK));

        assertThat(light.pixels()).containsExactly(dark.pixels(), within(1e-5f));
    }

    @Test
    void shouldIgnoreWhereTheDigitStandsOnThePaper() {
        BufferedImage corner = paper(100, 100, Color.WHITE);
        fill(corner, Color.BLACK, 2, 2, 10, 30);
        BufferedImage middle = paper(60, 200, Color.WHITE);
        fill(middle, Color.BLACK, 25, 90, 10, 30);

        assertThat(DigitPicture.of(corner).pixels())
                .isEqualTo(DigitPicture.of(middle).pixels());
    }

    @Test
    void shouldMakeTheInkTwentyPixelsHighAndCentreIt() {
        float[] pixels = DigitPicture.of(bar(Color.BLACK, Color.WHITE)).pixels();

        double total = 0;
        double massX = 0;
        double massY = 0;
        int rowsWithInk = 0;
        for (int y = 0; y < DigitPicture.SIDE; y++) {
            double row = 0;
            for (int x = 0; x < DigitPicture.SIDE; x++) {
                double ink = pixels[y * DigitPicture.SIDE + x];
                row += ink;
                massX += ink * (x + 0.5);
                massY += ink * (y + 0.5);
            }
            total += row;
            rowsWithInk += row > 0 ? 1 : 0;
        }
        assertThat(rowsWithInk).isEqualTo(20);
        assertThat(massX / total).isCloseTo(14, within(0.51));
        assertThat(massY / total).isCloseTo(14, within(0.51));
    }

    @Test
    void shouldFindWhiteInkOnATransparentPicture() {
        BufferedImage image = new BufferedImage(50, 50, BufferedImage.TYPE_INT_ARGB);
        fill(image, Color.WHITE, 20, 10, 10, 30);

        assertThat(DigitPicture.of(image).pixels()).contains(1f);
    }

    @Test
    void shouldRefuseAPictureOfOneColour() {
        assertThatThrownBy(() -> DigitPicture.of(paper(20, 20, Color.GRAY)))
                .isInstanceOf(DigitException.class)
                .hasMessageContaining("one colour only");
    }

    @Test
    void shouldReadAPictureOfOnePixelAsOneColour() {
        assertThatThrownBy(() -> DigitPicture.of(paper(1, 1, Color.RED)))
                .isInstanceOf(DigitException.class)
                .hasMessageContaining("one colour only");
    }

    @Test
    void shouldSayThatAFileIsMissing() {
        assertThatThrownBy(() -> DigitPicture.read(Path.of("no-such-picture.png")))
                .isInstanceOf(DigitException.class)
                .hasMessage("There is no file no-such-picture.png.");
    }

    @Test
    void shouldRefuseAFileThatIsNoPicture(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("letter.png"), "Dear server");

        assertThatThrownBy(() -> DigitPicture.read(file))
                .isInstanceOf(DigitException.class)
                .hasMessageContaining("letter.png")
                .hasMessageContaining("not a picture");
    }

    @Test
    void shouldRefuseATruncatedPicture(@TempDir Path folder) throws IOException {
        byte[] whole = Files.readAllBytes(PICTURES.resolve("seven-serif.png"));
        Path file = Files.write(folder.resolve("half.png"), Arrays.copyOf(whole, whole.length / 2));

        assertThatThrownBy(() -> DigitPicture.read(file))
                .isInstanceOf(DigitException.class)
                .hasMessageContaining("half.png");
    }

    @Test
    void shouldDrawInkDarkAndPaperBlank() {
        String drawing = DigitPicture.of(bar(Color.BLACK, Color.WHITE)).drawing();

        assertThat(drawing.lines()).hasSize(DigitPicture.SIDE / 2);
        assertThat(drawing.lines().findFirst()).hasValue(" ".repeat(DigitPicture.SIDE));
        assertThat(drawing).contains("@");
    }

    /** A bar, three times as high as wide. */
    private static BufferedImage bar(Color ink, Color paper) {
        BufferedImage image = paper(80, 80, paper);
        fill(image, ink, 30, 10, 20, 60);
        return image;
    }

    private static BufferedImage paper(int width, int height, Color colour) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        fill(image, colour, 0, 0, width, height);
        return image;
    }

    private static void fill(BufferedImage image, Color colour, int x, int y, int width, int height) {
        Graphics2D graphics = image.createGraphics();
        graphics.setColor(colour);
        graphics.fillRect(x, y, width, height);
        graphics.dispose();
    }

    private static float[] stored(String resource) throws IOException {
        try (InputStream stream = DigitPictureTest.class.getResourceAsStream(resource)) {
            assertThat(stream).as(resource).isNotNull();
            BufferedImage image = ImageIO.read(stream);
            float[] values = new float[image.getWidth() * image.getHeight()];
            image.getRaster().getPixels(0, 0, image.getWidth(), image.getHeight(), values);
            for (int i = 0; i < values.length; i++) {
                values[i] /= 255;
            }
            return values;
        }
    }
}
