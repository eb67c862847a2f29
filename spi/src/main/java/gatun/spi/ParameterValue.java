// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** The value of a request or response parameter, in the kinds that all protocols share. */
public sealed interface ParameterValue {
    /** true or false. */
    record Bool(boolean value) implements ParameterValue {}

    /** A signed 64-bit integer. */
    record Int64(long value) implements ParameterValue {}

    /** An unsigned 64-bit integer, in the bits of a long. */
    record Uint64(long value) implements ParameterValue {}

    /** A double. */
    record Fp64(double value) implements ParameterValue {}

    /** A string. */
    record Text(String value) implements ParameterValue {}
}
