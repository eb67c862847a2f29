// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.imageio.ImageIO;

/**
 * A picture of one digit as the network of the model {@code digits} reads it: 28 x 28 values, ink 1, paper 0, the ink
 * 20 pixels high or wide with its centre of mass in the middle. Immutable.
 *
 * <p>The network was trained on pictures prepared by {@code examples/picture.py}, which does the same steps. Change
 * both together: the result is only as good as their agreement.
 */
final class DigitPicture {
    /** Width and height of the network's input, in pixels. */
    static final int SIDE = 28;

    /** The longer side of the ink, in pixels of the network. */
    private static final int INK_SIDE = 20;

    /** Ink fainter than this part of the strongest ink is taken for paper. */
    private static final float PAPER = 0.15f;

    /** A picture whose greys, 0 to 255, differ by less than this holds nothing to read. */
    private static final float CONTRAST = 8;

    private static final float WHITE = 255;
    private static final float BLACK = 0;

    private final Plane plane;

    private DigitPicture(Plane plane) {
        this.plane = plane;
    }

    /**
     * Reads a picture file, PNG or another format that Java knows.
     *
     * @throws DigitException if the file cannot be read, is no picture, or shows nothing
     */
    static DigitPicture read(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new DigitException("There is no file " + file + ".");
        }
        BufferedImage image;
        try {
            image = ImageIO.read(file.toFile());
        } catch (IOException | RuntimeException e) { // ImageIO's readers throw both on a broken file
            throw new DigitException("Cannot read " + file + " as a picture: " + e.getMessage() + ".", e);
        }
        if (image == null) {
            throw new DigitException(file + " is not a picture in a format that Java reads; try a PNG.");
        }
        try {
            return of(image);
        } catch (DigitException e) {
            throw new DigitException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Prepares a picture; transparent parts count as white paper, or as black paper where nothing shows on white.
     *
     * @throws DigitException if the picture shows nothing
     */
    static DigitPicture of(BufferedImage image) {
        Plane ink = ink(grey(image, WHITE));
        if (ink.max() < CONTRAST && image.getColorModel().hasAlpha()) {
            ink = ink(grey(image, BLACK));
        }
        if (ink.max() < CONTRAST) {
            throw new DigitException("The picture has one colour only; a digit must stand out from its paper.");
        }
        return new DigitPicture(centred(fitted(withoutPaper(ink))));
    }

    /** The 28 x 28 values, row by row. A copy. */
    float[] pixels() {
        return plane.values().clone();
    }

    /** The picture in characters, two rows of pixels in each line. */
    String drawing() {
        String shades = " .:-=+*#%@";
        StringBuilder text = new StringBuilder();
        for (int y = 0; y < SIDE; y += 2) {
            for (int x = 0; x < SIDE; x++) {
                float mean = (plane.at(x, y) + plane.at(x, y + 1)) / 2;
                text.append(shades.charAt(Math.round(mean * (shades.length() - 1))));
            }
            text.append(System.lineSeparator());
        }
        return text.toString();
    }

    private static Plane grey(BufferedImage image, float paper) {
        int width = image.getWidth();
        int height = image.getHeight();
        int[] colours = image.getRGB(0, 0, width, height, new int[width * height], 0, width);
        float[] values = new float[colours.length];
        for (int i = 0; i < colours.length; i++) {
            int colour = colours[i];
            float opacity = (colour >>> 24) / 255f;
            float luminance =
                    0.299f * ((colour >> 16) & 0xff) + 0.587f * ((colour >> 8) & 0xff) + 0.114f * (colour & 0xff);
            values[i] = paper + (luminance - paper) * opacity;
        }
        return new Plane(width, height, values);
    }

    /** How far each pixel is from the paper, on the side, darker or lighter, that differs more in total. */
    private static Plane ink(Plane grey) {
        float paper = medianOfBorder(grey);
        double lighter = 0;
        double darker = 0;
        for (float value : grey.values()) {
            lighter += Math.max(value - paper, 0);
            darker += Math.max(paper - value, 0);
        }
        int sign = lighter >= darker ? 1 : -1;
        float[] result = new float[grey.values().length];
        for (int i = 0; i < result.length; i++) {
            result[i] = Math.max(sign * (grey.values()[i] - paper), 0);
        }
        return new Plane(grey.width(), grey.height(), result);
    }

    private static float medianOfBorder(Plane grey) {
        float[] border = new float[2 * grey.width() + 2 * grey.height()];
        int count = 0;
        for (int x = 0; x < grey.width(); x++) {
            border[count++] = grey.at(x, 0);
            border[count++] = grey.at(x, grey.height() - 1);
        }
        for (int y = 1; y < grey.height() - 1; y++) {
            border[count++] = grey.at(0, y);
            border[count++] = grey.at(grey.width() - 1, y);
        }
        Arrays.sort(border, 0, count);
        return border[count / 2];
    }

    private static Plane withoutPaper(Plane ink) {
        Plane strong = ink.times(1 / ink.max());
        float[] result = strong.values().clone();
        for (int i = 0; i < result.length; i++) {
            result[i] = result[i] < PAPER ? 0 : result[i];
        }
        return new Plane(ink.width(), ink.height(), result);
    }

    /** Cut to the ink and scaled until its longer side is {@link #INK_SIDE}. */
    private static Plane fitted(Plane ink) {
        int left = ink.width();
        int right = -1;
        int top = ink.height();
        int bottom = -1;
        for (int y = 0; y < ink.height(); y++) {
            for (int x = 0; x < ink.width(); x++) {
                if (ink.at(x, y) > 0) {
                    left = Math.min(left, x);
                    right = Math.max(right, x);
                    top = Math.min(top, y);
                    bottom = Math.max(bottom, y);
                }
            }
        }
        Plane box = ink.crop(left, top, right - left + 1, bottom - top + 1);
        double scale = (double) INK_SIDE / Math.max(box.width(), box.height());
        Plane small = box.scaled(scaledSide(box.width(), scale), scaledSide(box.height(), scale));
        return small.times(1 / small.max());
    }

    private static int scaledSide(int side, double scale) {
        return Math.max(1, (int) (side * scale + 0.5));
    }

    private static Plane centred(Plane ink) {
        double total = 0;
        double massX = 0;
        double massY = 0;
        for (int y = 0; y < ink.height(); y++) {
            for (int x = 0; x < ink.width(); x++) {
                total += ink.at(x, y);
                massX += ink.at(x, y) * (x + 0.5);
                massY += ink.at(x, y) * (y + 0.5);
            }
        }
        int left = offset(massX / total, ink.width());
        int top = offset(massY / total, ink.height());
        float[] result = new float[SIDE * SIDE];
        for (int y = 0; y < ink.height(); y++) {
            System.arraycopy(ink.values(), y * ink.width(), result, (top + y) * SIDE + left, ink.width());
        }
        return new Plane(SIDE, SIDE, result);
    }

    /** Where ink of that length starts so that its centre of mass lies in the middle, as far as it stays inside. */
    private static int offset(double mass, int length) {
        return Math.clamp((long) Math.floor(SIDE / 2.0 - mass + 0.5), 0, SIDE - length);
    }
}
