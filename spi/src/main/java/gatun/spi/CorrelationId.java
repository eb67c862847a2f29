// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** The identity of a sequence, which all its requests have: a number or a text, which are never equal. Immutable. */
public sealed interface CorrelationId {
    /** A number other than 0, in the bits of a long, unsigned. */
    record Uint64(long value) implements CorrelationId {
        @Override
        public String toString() {
            return Long.toUnsignedString(value);
        }
    }

    /** A text that is not empty. */
    record Text(String value) implements CorrelationId {
        @Override
        public String toString() {
            return value;
        }
    }
}
