// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceCall.CallTrace;
import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.grpc.message.WireWriter;
import gatun.grpc.message.WireWriter.TensorMessage;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.v1.V1Api;
import gatun.v1.V1InferRequests.InputData;
import gatun.v1.V1InferResponse;
import gatun.wire.v1.InferResponseHeader;
import gatun.wire.v1.RequestStatus;
import io.grpc.Metadata;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;

/** Makes inference requests of InferRequest messages, and InferResponse messages of responses. Safe for any thread. */
final class Inferences {
    // Field numbers of InferResponse.
    private static final int REQUEST_STATUS = 1;
    private static final int META_DATA = 2;
    private static final int RAW_OUTPUT = 3;

    private static final Hold NOTHING = () -> {};
    private static final MemorySegment[] NO_TENSORS = {};

    private final ServerResources server;
    private final V1Api api;

    Inferences(ServerResources server, V1Api api) {
        this.server = server;
        this.api = api;
    }

    /**
     * The request of a message, whose memory it takes over; the caller owns it and ends its trace. Throws with the
     * protocol's text for the first mistake; nothing is held then.
     */
    InferenceRequest request(V1InferMessage message, Metadata headers, PeerLocation client, Origin origin) {
        try (message) {
            ModelVersion model = api.requests().model(message.modelName, message.modelVersion);
            message.model = model;
            Optional<RequestTrace> trace = CallTrace.begin(server, model, headers);
            try {
                InferenceRequest request = api.requests()
                        .request(
                                model,
                                message.modelVersion,
                                message.header,
                                client,
                                origin,
                                new RawInputs(message, server.buffers()));
                request.hold(message.takeOwnership());
                trace.ifPresent(present -> present.reached(TraceStage.GRPC_WAITREAD_END));
                trace.ifPresent(request::trace);
                return request;
            } catch (Throwable t) {
                trace.ifPresent(RequestTrace::end);
                throw t;
            }
        }
    }

    /** The message of a response, which it takes over. Throws when there can be none; the response is closed then. */
    OutboundMessage answer(V1InferMessage message, InferenceResponse response) {
        try {
            V1InferResponse answer =
                    V1InferResponse.of(message.header, Objects.requireNonNull(message.model), response, server.heap());
            try {
                return encode(
                        api.statuses().success(), answer.header(), answer.raw().toArray(MemorySegment[]::new), () -> {
                            response.close();
                            answer.close();
                        });
            } catch (Throwable t) {
                answer.close();
                throw t;
            }
        } catch (Throwable t) {
            response.close();
            throw t;
        }
    }

    OutboundMessage failure(V1InferMessage message, GatunException failure) {
        InferResponseHeader onlyId =
                InferResponseHeader.newBuilder().setId(message.header.getId()).build();
        return encode(api.statuses().failure(failure), onlyId, NO_TENSORS, NOTHING);
    }

    private static OutboundMessage encode(
            RequestStatus status, InferResponseHeader header, MemorySegment[] tensors, Hold hold) {
        WireWriter head = new WireWriter();
        head.bytes(REQUEST_STATUS, status.toByteArray());
        head.bytes(META_DATA, header.toByteArray());
        return TensorMessage.of(TensorMessage.NOT_NESTED, head, RAW_OUTPUT, tensors, hold);
    }

    /** The inputs' data as it lies in a message, an entry for each. For one request. */
    static final class RawInputs implements InputData {
        private final V1InferMessage message;
        private final RawAlignment alignment;
        private int next;

        /** The data of {@code message}; copies that are needed are taken of {@code pool}. */
        RawInputs(V1InferMessage message, BufferPool pool) {
            this.message = message;
            this.alignment = new RawAlignment(message.bytes(), pool);
        }

        @Override
        public MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request) {
            if (next >= message.rawCount()) {
                throw GatunException.invalidArgument(
                        "expected tensor data for at least " + next + " inputs but got only " + message.rawCount()
                                + " sets of data for model '" + message.modelName + "'");
            }
            int length = message.rawLength(next);
            if (length != byteSize) {
                throw wrongWindow(input, length, byteSize, message.modelName);
            }
            return alignment.aligned(message.rawStart(next++), length, datatype, request);
        }

        /** Entries that no input takes were never looked at. */
        @Override
        public void end(InferenceRequest request) {}

        @Override
        public GatunException wrongWindow(String input, long byteSize, long expected, String model) {
            return GatunException.invalidArgument("unexpected size " + Long.toUnsignedString(byteSize) + " for input '"
                    + input + "', expecting " + Long.toUnsignedString(expected) + " for model '" + model + "'");
        }
    }
}
