// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Where in serialised examples the features lie that inputs are filled from. The table lies in native memory too, so
 * that neither the number of examples nor that of their features takes any heap. Not thread-safe; closed by its owner.
 */
final class FeatureTable implements AutoCloseable {
    // Field numbers of Example, Features and an entry of the map of features.
    private static final int FEATURES = 1;
    private static final int ENTRY = 1;
    private static final int ENTRY_KEY = 1;

    /** Begin and end of an entry; both 0 where an example lacks the feature. */
    private static final long ROW_BYTES = 2 * Long.BYTES;

    private final MemorySegment examples;
    private final long exampleCount;
    private final MemorySegment[] names;
    private final Buffer rows;

    private FeatureTable(MemorySegment examples, long exampleCount, MemorySegment[] names, Buffer rows) {
        this.examples = examples;
        this.exampleCount = exampleCount;
        this.names = names;
        this.rows = rows;
    }

    /**
     * Finds the features of {@code inputs} in {@code exampleCount} examples, each an element of a BYTES tensor.
     *
     * @param pool where the table lies
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when one of them is no example
     */
    static FeatureTable of(MemorySegment examples, long exampleCount, List<FeatureInput> inputs, BufferPool pool) {
        MemorySegment[] names = inputs.stream()
                .map(input -> MemorySegment.ofArray(input.name().getBytes(StandardCharsets.UTF_8)))
                .toArray(MemorySegment[]::new);
        Buffer rows = pool.take(Math.multiplyExact(exampleCount, ROW_BYTES * names.length));
        try {
            CooperativeCopy.clear(rows.segment());
            FeatureTable table = new FeatureTable(examples, exampleCount, names, rows);
            table.find();
            return table;
        } catch (Throwable t) {
            rows.close();
            throw t;
        }
    }

    /** The values of an input in an example; none where the example lacks the feature, see {@link #contains}. */
    FeatureValues values(int input, long example) {
        long row = row(input, example);
        return new FeatureValues(
                examples,
                example,
                rows.segment().get(ElementLayouts.INT64, row),
                rows.segment().get(ElementLayouts.INT64, row + Long.BYTES));
    }

    /** Whether an example has the feature of an input. */
    boolean contains(int input, long example) {
        return rows.segment().get(ElementLayouts.INT64, row(input, example) + Long.BYTES) != 0;
    }

    private long row(int input, long example) {
        return (input * exampleCount + example) * ROW_BYTES;
    }

    private void find() {
        long at = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        for (long i = 0; i < exampleCount; i++) {
            long byteSize = BytesCodec.elementByteSize(examples, at);
            at += BytesCodec.LENGTH_BYTES;
            find(new ExampleCursor(examples, i, at, at + byteSize), i);
            work.worked(BytesCodec.LENGTH_BYTES + byteSize);
            at += byteSize;
        }
    }

    private void find(ExampleCursor in, long example) {
        long end = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag != ExampleCursor.delimited(FEATURES)) {
                in.skip(tag);
                continue;
            }
            long featuresEnd = in.length() + in.position();
            in.window(in.position(), featuresEnd);
            while (in.hasMore()) {
                int entry = in.tag();
                if (entry == ExampleCursor.delimited(ENTRY)) {
                    long entryEnd = in.length() + in.position();
                    add(in, in.position(), entryEnd, example);
                    in.window(entryEnd, featuresEnd);
                } else {
                    in.skip(entry);
                }
            }
            in.window(featuresEnd, end);
        }
    }

    /** Notes an entry where it is for an input; of several for one the last counts. */
    private void add(ExampleCursor in, long start, long end, long example) {
        long nameStart = start;
        long nameLength = 0;
        in.window(start, end);
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == ExampleCursor.delimited(ENTRY_KEY)) {
                nameLength = in.length();
                nameStart = in.advance(nameLength);
            } else {
                in.skip(tag);
            }
        }
        for (int input = 0; input < names.length; input++) {
            MemorySegment name = names[input];
            if (name.byteSize() == nameLength
                    && MemorySegment.mismatch(examples, nameStart, nameStart + nameLength, name, 0, nameLength) < 0) {
                long row = row(input, example);
                rows.segment().set(ElementLayouts.INT64, row, start);
                rows.segment().set(ElementLayouts.INT64, row + Long.BYTES, end);
                return;
            }
        }
    }

    @Override
    public void close() {
        rows.close();
    }
}
