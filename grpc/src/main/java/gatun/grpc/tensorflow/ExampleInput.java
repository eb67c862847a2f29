package gatun.grpc.tensorflow;

import com.google.protobuf.ByteString;
import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.BytesCodec;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.Example;
import gatun.protocol.tensorflow.serving.ExampleListWithContext;
import gatun.protocol.tensorflow.serving.Input;
import gatun.runtime.InferenceRequest;
import gatun.tensorflow.serving.ExampleSignature;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The examples that a request wants judged, each as the model is given it: serialised, behind the context that all share.
 *
 * @param examples one string for each
 */
record ExampleInput(List<ByteString> examples) {
    /**
     * The examples of a message.
     *
     * @throws GatunException INVALID_ARGUMENT when there are none
     */
    static ExampleInput of(Input input) {
        List<ByteString> examples =
                switch (input.getKindCase()) {
                    case EXAMPLE_LIST ->
                        input.getExampleList().getExamplesList().stream()
                                .map(Example::toByteString)
                                .toList();
                    case EXAMPLE_LIST_WITH_CONTEXT -> withContext(input.getExampleListWithContext());
                    case KIND_NOT_SET -> List.of();
                };
        if (examples.isEmpty()) {
            throw GatunException.invalidArgument("Input is empty.");
        }
        return new ExampleInput(examples);
    }

    /** One serialised message behind another is both in one, the later one's features before those of the earlier one. */
    private static List<ByteString> withContext(ExampleListWithContext list) {
        ByteString context = list.getContext().toByteString();
        return list.getExamplesList().stream()
                .map(example -> context.concat(example.toByteString()))
                .toList();
    }

    int count() {
        return examples.size();
    }

    /** Gives the examples to a request by a signature of its model. */
    void ask(ExampleSignature signature, InferenceRequest request, BufferPool pool) {
        long byteSize = 0;
        for (ByteString example : examples) {
            byteSize += BytesCodec.LENGTH_BYTES + example.size();
        }
        Buffer buffer = pool.take(byteSize);
        long offset = 0;
        for (ByteString example : examples) {
            MemorySegment bytes = MemorySegment.ofBuffer(example.asReadOnlyByteBuffer());
            offset = BytesCodec.put(buffer.segment(), offset, bytes, 0, bytes.byteSize());
        }
        signature.ask(request, pool, buffer.segment(), count(), buffer);
    }
}
