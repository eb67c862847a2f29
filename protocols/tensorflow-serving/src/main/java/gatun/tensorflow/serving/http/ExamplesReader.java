// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.GatunException;
import gatun.tensorflow.serving.ExampleContext;
import gatun.tensorflow.serving.http.RequestDocument.Member;
import java.lang.foreign.MemorySegment;

/**
 * Reads the examples of a classify or regress request, each into one string of a tensor. For one request, by one
 * thread.
 */
final class ExamplesReader implements AutoCloseable {
    private final ElementBuffer elements;
    private long count;

    /**
     * Reads the examples of {@code document} into buffers of {@code pool}.
     *
     * @throws GatunException INVALID_ARGUMENT when they are wrong, RESOURCE_EXHAUSTED when their context is too long
     *     for so many
     */
    ExamplesReader(BufferPool pool, RequestDocument document) {
        this.elements = new ElementBuffer(pool);
        try {
            read(document);
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private void read(RequestDocument document) {
        ExampleWriter writer = new ExampleWriter(document.values(), elements);
        Member context = document.context();
        long contextByteSize = 0;
        if (context.present()) {
            writer.write(document.reader(context.position()));
            contextByteSize = elements.byteSize();
        }
        Member examples = document.examples();
        if (!examples.present()) {
            throw document.failure("When method is classify, key 'examples' is expected and was not found");
        }
        if (examples.kind() != JsonKind.ARRAY) {
            throw document.failure("Expecting 'examples' value to be an list/array");
        }
        if (examples.elementCount() == 0) {
            throw document.failure("'examples' value is an empty array");
        }
        ExampleContext.requireCopies(contextByteSize, examples.elementCount());
        JsonReader json = document.reader(examples.position());
        json.enterArray("");
        while (json.nextElement()) {
            long element = elements.byteSize();
            elements.putInt(0);
            // Messages one behind the other are read as one.
            elements.putCopy(0, contextByteSize);
            writer.write(json);
            elements.setInt(element, Math.toIntExact(elements.byteSize() - element - BytesCodec.LENGTH_BYTES));
            count++;
        }
        elements.dropFirst(contextByteSize);
    }

    /** How many examples there are. */
    long count() {
        return count;
    }

    /** The examples, each as an element of a BYTES tensor. */
    MemorySegment elements() {
        return elements.elements();
    }

    /** Gives the memory of the examples away, which the caller owns then. */
    Buffer release() {
        return elements.release();
    }

    @Override
    public void close() {
        elements.close();
    }
}
