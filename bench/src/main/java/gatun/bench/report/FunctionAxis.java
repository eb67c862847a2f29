// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * An axis whose positions come from a function.
 *
 * @param label the quantity along the axis
 * @param ticks the marked values
 * @param function from a value to its position, from 0 to 1
 */
record FunctionAxis(String label, List<Tick> ticks, DoubleUnaryOperator function) implements Axis {
    @Override
    public double position(double value) {
        return function.applyAsDouble(value);
    }
}
