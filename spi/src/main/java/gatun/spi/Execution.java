// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** One run of a {@link BackendInstance}: inputs, and places for outputs. Used by the instance's thread only. */
public interface Execution {
    /** The run's requests in order of their rows; one unless the model batches, none for warm-ups. */
    default List<ExecutionRequest> requests() {
        return List.of();
    }

    /** The name of the model's entry point that is asked for, the same by all requests of the run. */
    default String entryPoint() {
        return EntryPoint.DEFAULT;
    }

    /**
     * For how many nanoseconds from now on somebody waits for a response of this run; 0 or less when nobody does,
     * {@link Long#MAX_VALUE} when somebody may wait for ever. For engines that want to know it when a run begins; others
     * are {@linkplain BackendInstance#stop told to stop}.
     */
    default long timeLeftNanos() {
        return Long.MAX_VALUE;
    }

    /** How many inputs there are; fewer than the model's when optional ones are left out. */
    int inputCount();

    /** The index of the input of that name; -1 where the requests leave it out. */
    default int inputIndex(String name) {
        for (int i = 0; i < inputCount(); i++) {
            if (inputSpec(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Name, datatype and shape of input {@code index}, as {@link #input} gives it. */
    default TensorSpec inputSpec(int index) {
        return input(index).spec();
    }

    /**
     * Input {@code index} as the backend gets it, the batch dimension included; valid until the run ends. Where the run
     * is for several requests, whose bytes do not lie side by side, this call copies them, and where the bytes lie in
     * memory that a client can still write, unless {@link BackendModel#inputMemory} says that they need not be copied.
     */
    Tensor input(int index);

    /** How many outputs are wanted. */
    int outputCount();

    /** The name of wanted output {@code index}. */
    String outputName(int index);

    /**
     * Memory for wanted output {@code index}: the client's region where {@link BackendModel#outputMemory} says that the
     * model may write there, or a pooled buffer of 64-byte alignment, which is copied to the region when the run is
     * over. Called before the run when the shape is known, so that the engine writes in place, and after it otherwise. A second call
     * for the same output replaces the first, for an engine whose shape turned out to be another.
     *
     * @param byteSize the exact size; for BYTES what the encoded strings take
     * @throws GatunException when the client's region is too small or the pool is exhausted
     */
    MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize);

    /**
     * Input {@code index} on the GPU of {@code transfers}, as {@link #input(int)} otherwise: where the client's own
     * memory is on that GPU and need not be copied, that very memory; else a copy, which is made on the stream of {@code transfers} and is
     * there for what is launched on it later. Valid until {@code transfers} ends its run.
     *
     * @throws GatunException when the GPU has no room or has failed
     */
    default DeviceMemory input(int index, DeviceTransfers transfers) {
        return transfers.bring(input(index));
    }

    /**
     * Memory for wanted output {@code index} on the GPU of {@code transfers}, as {@link #output(int, Datatype, Shape,
     * long)} otherwise: the client's own memory where it is on that GPU and the model may write there; else memory that
     * {@link DeviceTransfers#complete} copies to where the output belongs.
     *
     * @throws GatunException when the client's region is too small, or memory is short here or
     *     there
     */
    default DeviceMemory output(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        return transfers.deliver(output(index, datatype, shape, byteSize));
    }

    /**
     * Gives wanted output {@code output} the very bytes of input {@code input}, which must have the same datatype;
     * takes the place of {@link #output}. Nothing is copied where the request owns the bytes and they go to the
     * network.
     *
     * @param shape the output's shape, of as many elements as the input
     */
    void outputFromInput(int output, int input, Shape shape);

    /**
     * Gives wanted output {@code output} memory of the backend's own; takes the place of {@link #output}. Nothing is
     * copied where the bytes go to the network: then they are read until {@code hold} is closed, which is when the
     * response has been sent.
     *
     * <p>Where nothing is copied, datatype and shape may be others than the configuration says, and are what the client
     * gets.
     *
     * @param bytes the output's bytes, for BYTES the encoded strings
     * @param hold closed once, by any thread, when the memory is not read any more; also when this fails
     * @throws GatunException when the client's region is too small or the pool is exhausted
     */
    default void lendOutput(int output, Datatype datatype, Shape shape, MemorySegment bytes, Hold hold) {
        try (hold) {
            TensorCopy.copy(bytes, output(output, datatype, shape, bytes.byteSize()));
        }
    }

    /**
     * Sends the outputs that were made since the last call as one response, and begins the next. For decoupled models,
     * which answer a request with any number of responses, each with all or some of the wanted outputs. A run of theirs
     * is for one request, or for steps of several sequences: then each gets its rows, but for those that
     * {@linkplain ExecutionRequest#skipResponse are left out}. (Where requests
     * {@linkplain BackendModel#takesRequestsApart come apart}, each has an execution of its own.) The end of {@link BackendInstance#execute} ends the
     * responses of each request that does not {@linkplain ExecutionRequest#runAgain run again}: outputs that are made
     * and not sent then are its last response, and without any it ends with the response that was sent last, or without
     * a single one.
     *
     * <p>Waits while a client is some responses behind. Memory that {@link #output} gave belongs to the response from
     * then on and must not be touched again.
     *
     * <p>A model that is not decoupled need not call this, and fails the request when it does so twice.
     *
     * @throws GatunException when none of the requests can go on: CANCELLED when nobody wants more
     *     responses, or when the client has taken none for too long; others when the response cannot be made. To be
     *     passed on, which ends the run
     */
    default void send() {}

    /**
     * Sends a failure in the place of a response, after which others may follow. For decoupled models, whose responses
     * fail one by one. What was made for the response is dropped.
     *
     * @throws GatunException {@code reason}, where the request ends by it: for models that are not decoupled, steps of
     *     sequences, and clients that do not go on after a failure; otherwise as {@link #send}. To be passed on, which
     *     ends the run
     */
    default void sendFailure(GatunException reason) {
        throw reason;
    }

    /**
     * Lets the instance serve other requests while {@code rest} does what is left of this run on a thread of its own:
     * for runs that mostly wait. Where this is true, {@code rest} has begun, and {@link BackendInstance#execute}, which
     * must not touch the execution any more, returns when the instance is free for the next request;
     * {@link BackendInstance#stop} does not mean this run then. The instance is closed after {@code rest} has ended.
     *
     * @return false when the run cannot be detached, and the caller has to do the rest itself: for batches and steps of
     *     sequences, while the instance warms up, and when many runs of the instance go on like that already
     */
    default boolean detach(DetachedRun rest) {
        return false;
    }

    /** To be called just before the engine begins; tells the time for inputs from the time of the engine. */
    void inferStarted();

    /** To be called when the engine is done; tells the time of the engine from the time for outputs. */
    void inferEnded();
}
