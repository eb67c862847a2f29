// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.wire.tensorflow.Feature;
import java.lang.foreign.MemorySegment;

/** One feature's values in a serialised example, counted first, without objects. Not thread-safe. */
final class FeatureValues {
    /** Field number of the value in an entry of the map of features. */
    private static final int ENTRY_VALUE = 2;

    /** Field number of the values in each of the three kinds of lists. */
    private static final int LIST_VALUES = 1;

    /** Takes the values of a feature in their order. */
    interface Target {
        void text(long start, long byteSize);

        void real(float value);

        /** One of an int64 list. */
        void integer(long value);
    }

    private final MemorySegment examples;
    private final long example;
    private final long start;
    private final long end;

    private Feature.KindCase kind = Feature.KindCase.KIND_NOT_SET;
    /** Where the lists begin that count: the values before were of another kind, which the later one replaces. */
    private long from;

    private long count;
    private long textByteSize;

    /** The values of a features entry in {@code examples}; none where start is end. Throws INVALID_ARGUMENT. */
    FeatureValues(MemorySegment examples, long example, long start, long end) {
        this.examples = examples;
        this.example = example;
        this.start = start;
        this.end = end;
        eachList(this::count);
    }

    Feature.KindCase kind() {
        return kind;
    }

    long count() {
        return count;
    }

    long textByteSize() {
        return textByteSize;
    }

    void read(Target target) {
        eachList((in, list) -> {
            if (in.position() >= from) {
                readList(in, list, target);
            }
        });
    }

    private interface ListVisitor {
        /** {@code in} stands at the beginning of a list of that kind, and reads to its end. */
        void list(ExampleCursor in, Feature.KindCase list);
    }

    private void eachList(ListVisitor visitor) {
        ExampleCursor in = new ExampleCursor(examples, example, start, end);
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag != ExampleCursor.delimited(ENTRY_VALUE)) {
                in.skip(tag);
                continue;
            }
            long valueEnd = in.length() + in.position();
            in.window(in.position(), valueEnd);
            eachListOfFeature(in, visitor);
            in.window(valueEnd, end);
        }
    }

    private static void eachListOfFeature(ExampleCursor in, ListVisitor visitor) {
        long featureEnd = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            Feature.KindCase list = Feature.KindCase.forNumber(ExampleCursor.field(tag));
            if (list == null || ExampleCursor.type(tag) != ExampleCursor.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            long listEnd = in.length() + in.position();
            in.window(in.position(), listEnd);
            visitor.list(in, list);
            in.window(listEnd, featureEnd);
        }
    }

    private void count(ExampleCursor in, Feature.KindCase list) {
        if (kind != list) {
            kind = list;
            from = in.position();
            count = 0;
            textByteSize = 0;
        }
        readList(in, list, new Target() {
            @Override
            public void text(long at, long byteSize) {
                count++;
                textByteSize += byteSize;
            }

            @Override
            public void real(float value) {
                count++;
            }

            @Override
            public void integer(long value) {
                count++;
            }
        });
    }

    private static void readList(ExampleCursor in, Feature.KindCase list, Target target) {
        while (in.hasMore()) {
            int tag = in.tag();
            if (ExampleCursor.field(tag) != LIST_VALUES) {
                in.skip(tag);
                continue;
            }
            boolean delimited = ExampleCursor.type(tag) == ExampleCursor.LENGTH_DELIMITED;
            switch (list) {
                case BYTES_LIST -> {
                    if (delimited) {
                        long length = in.length();
                        target.text(in.advance(length), length);
                    } else {
                        in.skip(tag);
                    }
                }
                case FLOAT_LIST -> {
                    if (delimited) {
                        readPackedReals(in, target);
                    } else if (ExampleCursor.type(tag) == ExampleCursor.FIXED32) {
                        target.real(in.fp32());
                    } else {
                        in.skip(tag);
                    }
                }
                case INT64_LIST -> {
                    if (delimited) {
                        readPackedIntegers(in, target);
                    } else if (ExampleCursor.type(tag) == ExampleCursor.VARINT) {
                        target.integer(in.varint());
                    } else {
                        in.skip(tag);
                    }
                }
                case KIND_NOT_SET -> throw new AssertionError("no kind of list");
            }
        }
    }

    private static void readPackedReals(ExampleCursor in, Target target) {
        long length = in.length();
        if (length % Float.BYTES != 0) {
            throw in.malformed("packed numbers of " + length + " bytes, which is no multiple of " + Float.BYTES);
        }
        for (long i = 0; i < length; i += Float.BYTES) {
            target.real(in.fp32());
        }
    }

    private static void readPackedIntegers(ExampleCursor in, Target target) {
        long listEnd = in.limit();
        long runEnd = in.length() + in.position();
        in.window(in.position(), runEnd);
        while (in.hasMore()) {
            target.integer(in.varint());
        }
        in.window(runEnd, listEnd);
    }
}
