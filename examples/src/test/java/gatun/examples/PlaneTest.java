// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PlaneTest {
    @Test
    void shouldKeepEveryValueWhenTheSizeStays() {
        Plane plane = new Plane(3, 2, new float[] {1, 2, 3, 4, 5, 6});

        assertThat(plane.scaled(3, 2).values()).containsExactly(1, 2, 3, 4, 5, 6);
    }

    @Test
    void shouldKeepAFlatPlaneFlatInAnySize() {
        Plane plane = new Plane(5, 7, filled(35, 0.25f));

        assertThat(plane.scaled(13, 3).values()).hasSize(39).containsOnly(new float[] {0.25f}, within(1e-6f));
    }

    @Test
    void shouldWeighNeighboursByATriangleWhenReduced() {
        Plane plane = new Plane(4, 1, new float[] {0, 0, 0, 8});

        // Centre 3, reach 2: pixels 1, 2 and 3 weigh 0.25, 0.75 and 0.75.
        assertThat(plane.scaled(2, 1).values()[1]).isCloseTo(8 * 0.75f / 1.75f, within(1e-5f));
    }

    @Test
    void shouldBlendBetweenPixelsWhenEnlarged() {
        Plane plane = new Plane(2, 1, new float[] {0, 1});

        assertThat(plane.scaled(4, 1).values()).containsExactly(new float[] {0, 0.25f, 0.75f, 1}, within(1e-6f));
    }

    @Test
    void shouldCutThePartAskedFor() {
        Plane plane = new Plane(3, 3, new float[] {1, 2, 3, 4, 5, 6, 7, 8, 9});

        assertThat(plane.crop(1, 1, 2, 2).values()).containsExactly(5, 6, 8, 9);
    }

    @Test
    void shouldRefuseValuesThatDoNotFillThePlane() {
        assertThatThrownBy(() -> new Plane(2, 2, new float[3]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 x 2")
                .hasMessageContaining("3 values");
    }

    private static float[] filled(int count, float value) {
        float[] values = new float[count];
        Arrays.fill(values, value);
        return values;
    }
}
