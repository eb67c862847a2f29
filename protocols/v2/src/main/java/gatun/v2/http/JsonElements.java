// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonReader;
import gatun.http.json.TensorDataReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.spi.Setting;
import java.lang.foreign.MemorySegment;

/** Reads inputs from JSON into buffers that the request holds. For one request, not thread-safe. */
final class JsonElements {
    private final BufferPool buffers;
    private final InferenceRequest request;
    private final JsonReader json;
    private final long maxInputByteSize;
    private final TensorDataReader data = new TensorDataReader();

    JsonElements(BufferPool buffers, InferenceRequest request, JsonReader json, long maxInputByteSize) {
        this.buffers = buffers;
        this.request = request;
        this.json = json;
        this.maxInputByteSize = maxInputByteSize;
    }

    static void checkHasJsonForm(TensorSpec spec) {
        switch (spec.datatype()) {
            default ->
                throw GatunException.invalidArgument("receiving " + spec.datatype()
                        + " data via JSON is not supported. Please use the binary data format for input "
                        + spec.name());
            case INVALID -> throw GatunException.invalidArgument("invalid datatype for input " + spec.name());
            case BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES -> {
                // These have.
            }
        }
    }

    /** Reads an array of {@code count} elements, any number of strings. Throws INVALID_ARGUMENT for other elements. */
    MemorySegment readArray(TensorSpec spec, long count) {
        return read(spec, count, false);
    }

    /** Reads one element without an array around it. Throws GatunException INVALID_ARGUMENT for another type. */
    MemorySegment readSingle(TensorSpec spec) {
        return read(spec, 1, true);
    }

    private MemorySegment read(TensorSpec spec, long count, boolean single) {
        Datatype datatype = spec.datatype();
        if (datatype == Datatype.BYTES) {
            return readStrings(single);
        }
        long byteSize = spec.shape().byteSize(datatype);
        if (byteSize < 0) {
            throw GatunException.invalidArgument("byte size overflow for input '" + spec.name() + "': element count ("
                    + count + ") * data type size (" + datatype.byteSize() + ") exceeds maximum allowed size ("
                    + Long.MAX_VALUE + ")");
        }
        if (byteSize > maxInputByteSize) {
            throw tooLong(spec, byteSize);
        }
        // An element takes at least a digit and a comma; so no memory is taken that the text cannot fill.
        if (count > json.remaining() / 2 + 1) {
            read(data.counting(spec.name(), datatype), single);
            data.requireCount(count);
        }
        MemorySegment elements = take(byteSize);
        read(data.into(spec.name(), datatype, count, elements), single);
        data.requireCount(count);
        return elements;
    }

    /** Measures first, since only the text tells how long the strings are. */
    private MemorySegment readStrings(boolean single) {
        long from = json.position();
        read(data.measuringStrings(), single);
        long after = json.position();
        MemorySegment elements = take(data.encodedByteSize());
        json.position(from);
        read(data.strings(elements), single);
        json.position(after);
        return elements;
    }

    private void read(TensorDataReader reader, boolean single) {
        if (single) {
            json.readElement(reader);
        } else {
            json.readTensor(reader);
        }
    }

    private MemorySegment take(long byteSize) {
        Buffer buffer = buffers.take(byteSize);
        request.hold(buffer);
        return buffer.segment();
    }

    private GatunException tooLong(TensorSpec spec, long byteSize) {
        return GatunException.invalidArgument("JSON input '" + spec.name() + "' has a byte_size (" + byteSize
                + " bytes) that exceeds the maximum allowed value of " + maxInputByteSize
                + " bytes. Use " + Setting.HTTP_MAX_INPUT_SIZE + " to increase the limit.");
    }
}
