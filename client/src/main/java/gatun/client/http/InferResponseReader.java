// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.calls.ClientMemory;
import gatun.client.calls.ResponseBuffer;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads inference responses: outputs behind the JSON go straight to where they stay. Stateless. */
record InferResponseReader(InferRequest request) implements ResponseReader<InferResponse> {
    private static final Hold NOTHING = () -> {};

    @Override
    public InferResponse read(HttpConnection connection) throws IOException {
        ResponseHead head = connection.head();
        if (!head.isSuccess()) {
            throw ErrorResponses.read(connection);
        }
        if (head.encoding() != ResponseHead.Encoding.IDENTITY || head.contentLength() == ResponseHead.NONE) {
            return readWhole(connection);
        }
        long jsonByteSize = jsonByteSize(head, head.contentLength());
        InferLayout layout = layout(connection, jsonByteSize);
        return response(layout, head.contentLength() - jsonByteSize, connection.body()::readFully);
    }

    /** The source of outputs' bytes, in their order. */
    private interface Source {
        void fill(MemorySegment target) throws IOException;
    }

    /** A response whose length is not known before its end: it is read to its end, and its outputs are copied. */
    private InferResponse readWhole(HttpConnection connection) throws IOException {
        try (WholeBody body = WholeBody.read(connection, ClientMemory.limit())) {
            MemorySegment bytes = body.bytes();
            long json = jsonByteSize(connection.head(), bytes.byteSize());
            InferLayout layout = InferResponseJson.read(bytes.asSlice(0, json));
            Source copy = new Source() {
                private long at = json;

                @Override
                public void fill(MemorySegment target) {
                    MemorySegment.copy(bytes, at, target, 0, target.byteSize());
                    at += target.byteSize();
                }
            };
            return response(layout, bytes.byteSize() - json, copy);
        }
    }

    private static long jsonByteSize(ResponseHead head, long bodyByteSize) {
        long json = head.jsonLength() == ResponseHead.NONE ? bodyByteSize : head.jsonLength();
        if (json > bodyByteSize) {
            throw new MalformedResponseException("its Inference-Header-Content-Length is " + json
                    + ": expected at most the body's " + bodyByteSize + " bytes");
        }
        return json;
    }

    private static InferLayout layout(HttpConnection connection, long byteSize) throws IOException {
        if (byteSize > connection.bufferByteSize()) {
            // A length is believed as far as bytes come: only touched memory is taken from the system.
            try (ResponseBuffer json = ClientMemory.take(byteSize)) {
                connection.body().readFully(json.segment());
                return InferResponseJson.read(json.segment());
            }
        }
        int count = (int) byteSize;
        connection.body().await(count);
        int from = connection.bufferedFrom();
        InferLayout layout = connection.layouts().find(connection.buffer(), from, count);
        if (layout == null) {
            byte[] json = connection.buffer().asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
            layout = InferResponseJson.read(MemorySegment.ofArray(json));
            if (layout.isLasting()) {
                connection.layouts().put(json, layout);
            }
        }
        connection.body().skip(count);
        return layout;
    }

    private InferResponse response(InferLayout layout, long binaryByteSize, Source source) throws IOException {
        Hold memory = NOTHING;
        try {
            if (layout.binaryByteSize() != binaryByteSize) {
                throw new MalformedResponseException("its outputs have " + layout.binaryByteSize()
                        + " bytes by its JSON, behind which " + binaryByteSize + " bytes are sent");
            }
            @Nullable ResponseBuffer buffer = null;
            if (layout.binaryByteSize() > 0) {
                buffer = ClientMemory.take(layout.memoryByteSize());
                memory = buffer;
            }
            return response(layout, buffer, source);
        } catch (Throwable t) {
            memory.close();
            InferLayout.close(layout.outputs());
            throw t;
        }
    }

    private InferResponse response(InferLayout layout, @Nullable ResponseBuffer buffer, Source source)
            throws IOException {
        List<Tensor> sent = List.of();
        List<TensorSpec> inRegions = List.of();
        boolean parsed = false;
        for (InferLayout.Output output : layout.outputs()) {
            switch (output) {
                case InferLayout.Binary binary -> {
                    MemorySegment bytes = MemorySegment.NULL;
                    if (buffer != null && binary.byteSize() > 0) {
                        bytes = buffer.segment().asSlice(binary.offset(), binary.byteSize());
                        source.fill(bytes);
                        checkStrings(binary.spec(), bytes);
                    }
                    sent = with(sent, new Tensor(binary.spec(), bytes));
                }
                case InferLayout.Parsed elements -> {
                    parsed = true;
                    MemorySegment bytes = elements.elements().segment().asSlice(0, elements.byteSize());
                    sent = with(sent, new Tensor(elements.spec(), bytes));
                }
                case InferLayout.Absent absent -> {
                    if (isWantedInRegion(absent.spec().name())) {
                        inRegions = with(inRegions, absent.spec());
                    } else if (absent.spec().shape().elementCount() == 0) {
                        sent = with(sent, new Tensor(absent.spec(), MemorySegment.NULL));
                    } else {
                        throw new MalformedResponseException(
                                "its output '" + absent.spec().name() + "' has no data");
                    }
                }
            }
        }
        Hold memory = buffer == null ? NOTHING : buffer;
        if (parsed) {
            Hold rest = memory;
            memory = () -> {
                rest.close();
                InferLayout.close(layout.outputs());
            };
        }
        return new InferResponse(
                layout.model(), layout.version(), layout.id(), sent, inRegions, layout.parameters(), memory);
    }

    private boolean isWantedInRegion(String name) {
        List<InferOutput> outputs = request.outputs();
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i) instanceof InferOutput.InRegion wanted
                    && wanted.name().equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static void checkStrings(TensorSpec spec, MemorySegment bytes) {
        if (spec.datatype() == Datatype.BYTES
                && BytesCodec.check(bytes, spec.shape().elementCount()) != BytesCodec.Check.Complete.COMPLETE) {
            throw new MalformedResponseException("its output '" + spec.name() + "' BYTES " + spec.shape() + " is not "
                    + spec.shape().elementCount() + " elements, each with its length before it");
        }
    }

    /** Few responses have more than one. */
    private static <T> List<T> with(List<T> list, T element) {
        if (list.isEmpty()) {
            return List.of(element);
        }
        List<T> longer = new ArrayList<>(list);
        longer.add(element);
        return List.copyOf(longer);
    }
}
