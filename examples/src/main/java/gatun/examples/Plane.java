// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/**
 * Grey values of a picture, row by row. Immutable; the values given and returned are shared, so nobody changes them.
 */
final class Plane {
    private final int width;
    private final int height;
    private final float[] values;

    /**
     * A plane over values that the caller gives away.
     *
     * @param width pixels in a row, at least one
     * @param height rows, at least one
     * @param values {@code width * height} of them
     */
    Plane(int width, int height, float[] values) {
        if (width < 1 || height < 1 || values.length != width * height) {
            throw new IllegalArgumentException(
                    "a plane of " + width + " x " + height + " cannot hold " + values.length + " values");
        }
        this.width = width;
        this.height = height;
        this.values = values;
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    float[] values() {
        return values;
    }

    float at(int x, int y) {
        return values[y * width + x];
    }

    /** The greatest value. */
    float max() {
        float max = values[0];
        for (float value : values) {
            max = Math.max(max, value);
        }
        return max;
    }

    /** Every value multiplied by a factor. */
    Plane times(float factor) {
        float[] result = new float[values.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = values[i] * factor;
        }
        return new Plane(width, height, result);
    }

    /** The part that starts at a corner and has the given size; all of it must lie inside. */
    Plane crop(int left, int top, int newWidth, int newHeight) {
        float[] result = new float[newWidth * newHeight];
        for (int y = 0; y < newHeight; y++) {
            System.arraycopy(values, (top + y) * width + left, result, y * newWidth, newWidth);
        }
        return new Plane(newWidth, newHeight, result);
    }

    /**
     * The same picture in another size. A pixel of the result is the mean of the pixels around it, weighted by a
     * triangle that is two pixels of the coarser of both pictures wide: smooth when enlarged, nothing lost when
     * reduced.
     */
    Plane scaled(int newWidth, int newHeight) {
        return scaledAcross(newWidth).transposed().scaledAcross(newHeight).transposed();
    }

    private Plane scaledAcross(int newWidth) {
        double step = (double) width / newWidth;
        double reach = Math.max(step, 1);
        float[] result = new float[newWidth * height];
        for (int x = 0; x < newWidth; x++) {
            double center = (x + 0.5) * step;
            int first = Math.max((int) (center - reach + 0.5), 0);
            int last = Math.min((int) (center + reach + 0.5), width);
            double total = 0;
            for (int from = first; from < last; from++) {
                total += weight(from, center, reach);
            }
            for (int y = 0; y < height; y++) {
                double sum = 0;
                for (int from = first; from < last; from++) {
                    sum += weight(from, center, reach) * at(from, y);
                }
                result[y * newWidth + x] = (float) (sum / total);
            }
        }
        return new Plane(newWidth, height, result);
    }

    private static double weight(int pixel, double center, double reach) {
        return Math.max(0, 1 - Math.abs(pixel + 0.5 - center) / reach);
    }

    private Plane transposed() {
        float[] result = new float[values.length];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                result[x * height + y] = at(x, y);
            }
        }
        return new Plane(height, width, result);
    }
}
