// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.InferInput;
import gatun.client.InferRequest;
import gatun.client.http.ControlCalls.Paths;
import gatun.client.http.OutgoingRequest.PlainRequest;
import gatun.memory.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** Puts requests for inferences together as the options of a client want them. Immutable and safe for any thread. */
final class HttpInferRequests {
    private static final String JSON_LENGTH = "Inference-Header-Content-Length";
    private static final String CONTENT_TYPE = "Content-Type";
    private static final String CONTENT_ENCODING = "Content-Encoding";
    private static final String BYTES_TYPE = "application/octet-stream";
    private static final String JSON_TYPE = "application/json";
    private static final int FIRST_BYTES = 4096;
    private static final int PIECE_BYTES = 64 << 10;

    private final RequestHeads heads;
    private final boolean binary;
    private final Compression compression;
    /** Made once, so that a call makes none. */
    private final Predicate<EncodedInfer> isMine;

    private final Function<InferRequest, EncodedInfer> encode;

    HttpInferRequests(ClientOptions options, RequestHeads heads) {
        this.heads = heads;
        this.binary = options.binaryTensors();
        this.compression = options.compression();
        this.isMine = this::isMine;
        this.encode = this::encode;
    }

    /** Whether nothing but tensors is written by each call, as {@link #encoded} has it; otherwise {@link #body} is. */
    boolean areEncodedOnce() {
        return binary && compression == Compression.NONE;
    }

    /** The request with all but its tensors' bytes put together, now or by a call before. */
    EncodedInfer encoded(InferRequest request) {
        return request.encoded(EncodedInfer.class, isMine, encode);
    }

    /** The whole body, compressed where wanted. The caller closes it after the last {@link #around}. */
    GrowingBuffer body(InferRequest request) {
        GrowingBuffer body = new GrowingBuffer(FIRST_BYTES);
        try (OutputStream target = BodyCompression.compressing(compression, body)) {
            if (binary) {
                target.write(json(request));
                for (Tensor tensor : sent(request)) {
                    write(tensor.bytes(), target);
                }
            } else {
                InferJson.write(request, false, target);
            }
        } catch (IOException e) {
            body.close();
            throw new UncheckedIOException("memory cannot be written", e);
        } catch (Throwable t) {
            body.close();
            throw t;
        }
        return body;
    }

    /** The request around its {@link #body}. */
    OutgoingRequest around(InferRequest request, GrowingBuffer body) {
        Map<String, String> headers = binary
                ? Map.of(CONTENT_TYPE, BYTES_TYPE, JSON_LENGTH, Integer.toString(json(request).length))
                : Map.of(CONTENT_TYPE, JSON_TYPE);
        if (compression != Compression.NONE) {
            headers = new HashMap<>(headers);
            headers.put(CONTENT_ENCODING, compression == Compression.GZIP ? "gzip" : "deflate");
        }
        String path = path(request);
        return new PlainRequest(
                "POST " + path,
                !request.isOfSequence(),
                heads.of("POST", path, headers, body.byteSize()),
                List.of(body.bytes()));
    }

    /** Others' have other headers. */
    @SuppressWarnings("ReferenceEquality") // one client's is no other's
    private boolean isMine(EncodedInfer encoded) {
        return encoded.owner() == this;
    }

    private EncodedInfer encode(InferRequest request) {
        byte[] json = json(request);
        List<Tensor> tensors = sent(request);
        long byteSize = json.length;
        for (Tensor tensor : tensors) {
            byteSize += tensor.byteSize();
        }
        String path = path(request);
        MemorySegment head = heads.of(
                "POST", path, Map.of(CONTENT_TYPE, BYTES_TYPE, JSON_LENGTH, Integer.toString(json.length)), byteSize);
        MemorySegment both = MemorySegment.ofArray(new byte[Math.toIntExact(head.byteSize() + json.length)]);
        MemorySegment.copy(head, 0, both, 0, head.byteSize());
        MemorySegment.copy(MemorySegment.ofArray(json), 0, both, head.byteSize(), json.length);
        return new EncodedInfer(this, "POST " + path, !request.isOfSequence(), both, tensors.toArray(Tensor[]::new));
    }

    private static byte[] json(InferRequest request) {
        ByteArrayOutputStream json = new ByteArrayOutputStream(512);
        try {
            InferJson.write(request, true, json);
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot be written", e);
        }
        return json.toByteArray();
    }

    private static List<Tensor> sent(InferRequest request) {
        List<Tensor> tensors = new ArrayList<>(request.inputs().size());
        for (InferInput input : request.inputs()) {
            if (input instanceof InferInput.Sent sent) {
                tensors.add(sent.tensor());
            }
        }
        return tensors;
    }

    private static void write(MemorySegment bytes, OutputStream target) throws IOException {
        byte[] piece = new byte[(int) Math.min(PIECE_BYTES, bytes.byteSize())];
        for (long at = 0; at < bytes.byteSize(); at += piece.length) {
            int count = (int) Math.min(piece.length, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, piece, 0, count);
            target.write(piece, 0, count);
        }
    }

    private static String path(InferRequest request) {
        return Paths.model(request.model(), request.version()) + "/infer";
    }

    /** An encoded inference request but for its tensors, which it borrows and reads for each call. Thread-safe. */
    static final class EncodedInfer implements OutgoingRequest {
        private final HttpInferRequests owner;
        private final String what;
        private final boolean repeatable;
        private final MemorySegment head;
        private final Tensor[] tensors;

        /**
         * @param owner who made it
         * @param head from the request line to the end of the JSON
         */
        EncodedInfer(HttpInferRequests owner, String what, boolean repeatable, MemorySegment head, Tensor[] tensors) {
            this.owner = owner;
            this.what = what;
            this.repeatable = repeatable;
            this.head = head;
            this.tensors = tensors;
        }

        HttpInferRequests owner() {
            return owner;
        }

        @Override
        public String what() {
            return what;
        }

        @Override
        public boolean isRepeatable() {
            return repeatable;
        }

        @Override
        public void writeTo(RequestWriter writer) throws IOException {
            writer.put(head);
            for (Tensor tensor : tensors) {
                try {
                    writer.put(tensor.bytes());
                } catch (IllegalStateException e) {
                    throw new IllegalStateException(
                            "the memory of tensor '" + tensor.spec().name() + "' was freed while " + what
                                    + " was sent: keep its arena open until the call has returned",
                            e);
                }
            }
        }
    }
}
