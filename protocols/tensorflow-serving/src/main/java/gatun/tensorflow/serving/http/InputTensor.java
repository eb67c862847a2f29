// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonCursor;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import java.util.Arrays;

/** One input on its way from JSON: in one piece, or in items of equal shape. For one thread. */
final class InputTensor implements AutoCloseable {
    private final RequestDocument document;
    private final TensorSpec spec;
    private final ElementBuffer elements;
    private final DenseReader reader;
    private long itemCount;
    /** How much there was before the item that was read last. */
    private long itemFrom;

    /** Reads the input {@code spec} from {@code document}. */
    InputTensor(BufferPool pool, RequestDocument document, TensorSpec spec) {
        this.document = document;
        this.spec = spec;
        this.elements = new ElementBuffer(pool);
        this.reader = new DenseReader(document.values(), new ElementReader(document.values(), spec, elements));
    }

    String name() {
        return spec.name();
    }

    long itemCount() {
        return itemCount;
    }

    void readWhole(JsonReader json, long outerCount) {
        reader.measure(json, outerCount);
        reserve(json, 1);
        reader.read(json);
    }

    /** Reads the next item, as {@code json} stands at it; there are to be {@code expectedCount} of them. */
    void readItem(JsonReader json, long expectedCount) {
        itemFrom = elements.byteSize();
        if (itemCount++ == 0) {
            reader.measure(json, DenseReader.NOT_COUNTED);
            reserve(json, expectedCount);
            reader.read(json);
            return;
        }
        long position = json.position();
        try {
            reader.read(json);
        } catch (GatunException e) {
            throw ownFailure(position, e);
        }
    }

    /** Reads items while they are single numbers, as the first was; returns how many, maybe none. */
    long readScalarItems(JsonReader json) {
        long count = reader.readScalars(json);
        itemCount += count;
        itemFrom = elements.byteSize();
        return count;
    }

    /** Reads another value instead of that of the last item: of two members of one name the last counts. */
    void readItemAgain(JsonReader json) {
        elements.rewind(itemFrom);
        itemCount--;
        readItem(json, 1);
    }

    /** The failure for an item unlike the first: an error within the item, or else the difference. */
    private GatunException ownFailure(long position, GatunException unlikeFirst) {
        if (unlikeFirst.code() != ErrorCode.INVALID_ARGUMENT) {
            return unlikeFirst;
        }
        Shape first = reader.shape();
        JsonReader json = document.reader(position);
        elements.rewind(itemFrom);
        reader.measure(json, DenseReader.NOT_COUNTED);
        reader.read(json);
        Shape own = reader.shape();
        if (first.elementCount() != own.elementCount()) {
            return GatunException.invalidArgument(
                    "Expecting tensor size: " + first.elementCount() + " but got: " + own.elementCount());
        }
        return GatunException.invalidArgument("Expecting shape " + first + " but got: " + own);
    }

    /** Makes room for {@code count} items of the measured shape, but for no more than the text can hold. */
    private void reserve(JsonReader json, long count) {
        if (!spec.datatype().isFixedSize()) {
            return;
        }
        // An element takes at least a digit and a separator.
        long most = json.remaining() / 2 + 1;
        long expected = reader.shape().prepend(count).elementCount();
        elements.reserve((expected < 0 ? most : Math.min(most, expected))
                * spec.datatype().byteSize());
    }

    void addWhole(InferenceRequest request) {
        add(request, reader.shape());
    }

    void addItems(InferenceRequest request) {
        add(request, reader.shape().prepend(itemCount));
    }

    private void add(InferenceRequest request, Shape shape) {
        request.addInput(new Tensor(new TensorSpec(spec.name(), spec.datatype(), shape), elements.elements()));
        request.hold(elements.release());
    }

    @Override
    public void close() {
        elements.close();
    }

    /** Reads nested values: lists of equal length, elements lowest. First elements decide. Not thread-safe. */
    static final class DenseReader {
        /** Stands for a number of elements that has not been counted. */
        static final long NOT_COUNTED = -1;

        private static final int FIRST_DIMS = 8;
        private static final long NOWHERE = -1;

        private final ValueText values;
        private final ElementReader elements;

        private long[] dims = new long[FIRST_DIMS];
        private int rank;
        private long[] begun = new long[FIRST_DIMS];
        private int open;
        /** Where the value begins that a failure is about, when the list around it is still open. */
        private long failedAt;

        /** Reads elements by {@code elements}, and shows wrong values by {@code values}. */
        DenseReader(ValueText values, ElementReader elements) {
            this.values = values;
            this.elements = elements;
        }

        /** The shape that was measured last. */
        Shape shape() {
            return Shape.ofFirst(dims, rank);
        }

        /**
         * Finds the shape of the value at {@code json} by its brackets only, and stays there; reading the value finds
         * whether it is JSON of that shape. {@code outerCount}: how many elements it has, or {@link #NOT_COUNTED}.
         */
        void measure(JsonReader json, long outerCount) {
            long from = json.position();
            rank = 0;
            if (outerCount != NOT_COUNTED && json.peek() == JsonKind.ARRAY) {
                dims[rank++] = outerCount;
                if (outerCount == 0) {
                    return;
                }
                // Its first element follows its bracket.
                json.position(from + 1);
            }
            int inner = json.measureArrays(dims, rank);
            while (rank + inner > dims.length) {
                if (dims.length > JsonCursor.DEPTH_LIMIT) {
                    throw tooDeep(json, from);
                }
                dims = Arrays.copyOf(dims, 2 * dims.length);
                begun = Arrays.copyOf(begun, dims.length);
                inner = json.measureArrays(dims, rank);
            }
            rank += inner;
            if (rank > JsonCursor.DEPTH_LIMIT) {
                throw tooDeep(json, from);
            }
            json.position(from);
        }

        /** The failure of a value that is nested too deeply; that it is no JSON comes first. */
        private static GatunException tooDeep(JsonReader json, long from) {
            json.position(from);
            json.skipValue();
            return JsonFailure.tooDeep(JsonCursor.DEPTH_LIMIT);
        }

        /** Reads the elements behind {@code json}'s, if the measured shape is a vector; returns how many. */
        long readScalars(JsonReader json) {
            return rank == 0 ? elements.readRun(json, Long.MAX_VALUE) : 0;
        }

        /** Reads the value at {@code json}, of the shape measured last. Throws otherwise; the position is open then. */
        void read(JsonReader json) {
            open = 0;
            failedAt = NOWHERE;
            try {
                read(json, 0);
            } catch (GatunException e) {
                throw firstFailure(json, e);
            }
        }

        private void read(JsonReader json, int level) {
            if (json.peek() != JsonKind.ARRAY) {
                readElement(json, level);
                return;
            }
            if (level >= rank) {
                failedAt = json.position();
                throw GatunException.invalidArgument(
                        "Encountered list at unexpected level: " + level + " expected < " + rank);
            }
            long expected = dims[level];
            long count = 0;
            json.enterArray("");
            open = level + 1;
            while (json.nextElement()) {
                long run = level + 1 == rank ? elements.readRun(json, expected - count) : 0;
                if (run > 0) {
                    count += run;
                    begun[level] = count;
                    continue;
                }
                begun[level] = ++count;
                if (count > expected) {
                    failedAt = json.position();
                    throw ragged(level, count);
                }
                read(json, level + 1);
            }
            open = level;
            if (count < expected) {
                throw ragged(level, count);
            }
        }

        private void readElement(JsonReader json, int level) {
            long position = json.position();
            try {
                if (level != rank) {
                    throw GatunException.invalidArgument(
                            "JSON Value: " + values.at(position) + " found at incorrect level: " + (level + 1)
                                    + " in the JSON DOM. Expected at level: " + rank);
                }
                elements.read(json);
            } catch (GatunException e) {
                failedAt = position;
                throw e;
            }
        }

        /** Reports a wrong length of a list before an error within it, so the open lists are read to their ends. */
        private GatunException firstFailure(JsonReader json, GatunException found) {
            GatunException first = found;
            if (failedAt != NOWHERE) {
                json.position(failedAt);
                json.skipValue();
            }
            for (int level = open - 1; level >= 0; level--) {
                long count = begun[level];
                while (json.nextElement()) {
                    json.skipValue();
                    count++;
                }
                if (count != dims[level]) {
                    first = ragged(level, count);
                }
            }
            return first;
        }

        private GatunException ragged(int level, long count) {
            return GatunException.invalidArgument("Encountered list at unexpected size: " + count + " at level: "
                    + level + " expected size: " + dims[level]);
        }
    }
}
