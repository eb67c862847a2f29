// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import gatun.wire.WireCursor.MemoryCursor;
import java.lang.foreign.MemorySegment;

/** Reads one of many serialised examples in native memory of any size. Not thread-safe. */
final class ExampleCursor extends MemoryCursor {
    private final long example;

    /** Reads from {@code start} to {@code end} of {@code bytes}, where the example of that number lies. */
    ExampleCursor(MemorySegment bytes, long example, long start, long end) {
        super(bytes, start, end);
        this.example = example;
    }

    long position() {
        return at;
    }

    long limit() {
        return end;
    }

    float fp32() {
        return Float.intBitsToFloat(fixed32());
    }

    long length() {
        return readLength();
    }

    /** Passes over {@code count} bytes; returns the position of the first. */
    long advance(long count) {
        return passOver(count);
    }

    @Override
    protected void pause() {
        CooperativeYield.now();
    }

    @Override
    public GatunException malformed(String problem) {
        return GatunException.invalidArgument("Could not parse example input " + example + ": " + problem);
    }
}
