// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.WireReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.InferenceRequest;
import gatun.tensorflow.serving.ExampleContext;
import gatun.tensorflow.serving.ExampleSignature;
import java.lang.foreign.MemorySegment;

/**
 * The examples that a request wants judged, where they lie in its message. The model gets each serialised, behind the
 * context that all share: messages behind one another are one, in which later features win. Not thread-safe.
 */
final class ExampleInput {
    /** Field number of the input in each request. */
    private static final int INPUT = 2;

    // Field numbers of Input: what is set later replaces what was set before.
    private static final int EXAMPLE_LIST = 1;
    private static final int EXAMPLE_LIST_WITH_CONTEXT = 2;

    // Field numbers of both lists.
    private static final int EXAMPLES = 1;
    private static final int CONTEXT = 2;

    private final MemorySegment message;

    private int kind;
    /** Where the lists begin that count: what stands before is of the kind that was replaced. */
    private int from;

    private long count;
    private long exampleByteSize;
    private long contextByteSize;

    private interface Visitor {
        void found(boolean context, int start, int length);
    }

    private ExampleInput(MemorySegment message) {
        this.message = message;
    }

    /** Finds the examples of a message. Throws {@link GatunException} INVALID_ARGUMENT when there are none. */
    static ExampleInput of(MemorySegment message) {
        ExampleInput input = new ExampleInput(message);
        input.visit(input::count);
        if (input.count == 0) {
            throw GatunException.invalidArgument("Input is empty.");
        }
        ExampleContext.requireCopies(input.contextByteSize, input.count);
        return input;
    }

    long count() {
        return count;
    }

    private void count(boolean context, int start, int length) {
        if (context) {
            contextByteSize += length;
        } else {
            exampleByteSize += length;
            count++;
        }
    }

    private void visit(Visitor visitor) {
        WireReader in = new WireReader(message);
        int end = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag != (INPUT << 3 | WireReader.LENGTH_DELIMITED)) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int inputEnd = in.position() + length;
            in.window(in.position(), inputEnd);
            visitInput(in, visitor);
            in.window(inputEnd, end);
        }
    }

    private void visitInput(WireReader in, Visitor visitor) {
        int inputEnd = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            int field = WireReader.field(tag);
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED
                    || (field != EXAMPLE_LIST && field != EXAMPLE_LIST_WITH_CONTEXT)) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int listEnd = in.position() + length;
            if (kind != field && in.position() >= from) {
                kind = field;
                from = in.position();
                count = 0;
                exampleByteSize = 0;
                contextByteSize = 0;
            }
            in.window(in.position(), listEnd);
            if (in.position() >= from) {
                visitList(in, field == EXAMPLE_LIST_WITH_CONTEXT, visitor);
            }
            in.window(listEnd, inputEnd);
        }
    }

    private static void visitList(WireReader in, boolean withContext, Visitor visitor) {
        while (in.hasMore()) {
            int tag = in.tag();
            int field = WireReader.field(tag);
            boolean context = withContext && field == CONTEXT;
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED || (field != EXAMPLES && !context)) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            visitor.found(context, in.advance(length), length);
        }
    }

    /** Adds the examples to a request by its signature. Throws when there is no memory, or they do not fit. */
    void ask(ExampleSignature signature, InferenceRequest request, BufferPool pool) {
        Buffer buffer = pool.take((BytesCodec.LENGTH_BYTES + contextByteSize) * count + exampleByteSize);
        try {
            Copy copy = new Copy(buffer.segment());
            visit(copy::context);
            visit(copy::example);
        } catch (Throwable t) {
            buffer.close();
            throw t;
        }
        signature.ask(request, pool, buffer.segment(), count, buffer);
    }

    /** Writes the examples as elements of a BYTES tensor, each behind the context. */
    private final class Copy {
        private final MemorySegment target;
        private long contextEnd = BytesCodec.LENGTH_BYTES;
        private long at;
        private final CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);

        Copy(MemorySegment target) {
            this.target = target;
        }

        void context(boolean context, int start, int length) {
            if (context) {
                CooperativeCopy.copy(message, start, target, contextEnd, length);
                contextEnd += length;
            }
        }

        void example(boolean context, int start, int length) {
            if (context) {
                return;
            }
            long element = BytesCodec.putLength(target, at, contextByteSize + length);
            if (at > 0) {
                CooperativeCopy.copy(target, BytesCodec.LENGTH_BYTES, target, element, contextByteSize);
            }
            work.worked(contextByteSize + length);
            CooperativeCopy.copy(message, start, target, element + contextByteSize, length);
            at = element + contextByteSize + length;
        }
    }
}
