// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonReader;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;

/** One input on its way from JSON: in one piece, or in items of equal shape. For one thread. */
final class InputTensor implements AutoCloseable {
    private final RequestDocument document;
    private final TensorSpec spec;
    private final ElementBuffer elements;
    private final DenseReader reader;

    /** How many items were read. */
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

    /** The input's name. */
    String name() {
        return spec.name();
    }

    /** How many items were read. */
    long itemCount() {
        return itemCount;
    }

    /**
     * Reads the whole tensor, as {@code json} stands at it.
     *
     * @param outerCount as {@link DenseReader#measure} takes it
     */
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

    /**
     * Reads items as long as they are single numbers, where the first was one; returns how many, of which none may be.
     */
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

    /** Gives the tensor, which was read as a whole, to {@code request}. */
    void addWhole(InferenceRequest request) {
        add(request, reader.shape());
    }

    /** Gives the tensor that the items make, one behind the other, to {@code request}. */
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
}
