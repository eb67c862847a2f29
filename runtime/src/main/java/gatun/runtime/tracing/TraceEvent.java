// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;

/** An event of a request's trace. */
public sealed interface TraceEvent {
    /** The request reached a stage, at {@code nanos} of {@link System#nanoTime}. */
    record Timestamp(TraceStage stage, long nanos) implements TraceEvent {}

    /** A backend told something of its own, called {@code name}, at {@code nanos} of {@link System#nanoTime}. */
    record Activity(String name, long nanos) implements TraceEvent {}

    /**
     * A tensor came by, at {@code activity} such as {@code TENSOR_QUEUE_INPUT}; {@code bytes} is a copy on the heap,
     * empty when there was no room.
     */
    record TensorData(String activity, TensorSpec spec, MemorySegment bytes) implements TraceEvent {}

    /** The stages that a request passes, under the names that traces give them. */
    public enum TraceStage {
        /** An HTTP request has been noticed, its body not yet read. */
        HTTP_RECV_START,
        /** An HTTP request has been read. */
        HTTP_RECV_END,
        /** The protocol has the response, or the first of several. */
        INFER_RESPONSE_COMPLETE,
        /** The response to an HTTP request begins to be written. */
        HTTP_SEND_START,
        /** The response to an HTTP request has been written. */
        HTTP_SEND_END,
        /** A gRPC message has come. */
        GRPC_WAITREAD_START,
        /** A gRPC message has been read. */
        GRPC_WAITREAD_END,
        /** The response to a gRPC message begins to be written. */
        GRPC_SEND_START,
        /** The response to a gRPC message has been written. */
        GRPC_SEND_END,
        /** The server has taken the request over from the protocol. */
        REQUEST_START,
        /** The request has been checked and begins to wait for an instance. */
        QUEUE_START,
        /** An instance has taken the request. */
        COMPUTE_START,
        /** The instance has its inputs. */
        COMPUTE_INPUT_END,
        /** The instance has computed its outputs. */
        COMPUTE_OUTPUT_START,
        /** The instance has answered. */
        COMPUTE_END,
        /** The server gives the response, or the failure, to the protocol. */
        REQUEST_END
    }
}
