// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.RequestTensors.RegionLeases;
import gatun.runtime.scheduling.PendingRequest;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.scheduling.SequenceStep;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A checked request. Made and read by the request's thread; the instance's thread writes its outcome. */
final class PendingInference extends BackendRequest {
    private final int batchSize;
    private final RequestTensors tensors;
    private final ModelSignature signature;
    private final ResponseBuilder response;
    private volatile @Nullable RunStopper runStopper;
    private @Nullable GatunException failure;

    /** Those whose requests are joined with nobody's for now; null where nobody tells. */
    private @Nullable FailedSenders failedSenders;

    /** Whether this is one of several pieces of its request. */
    private boolean isPiece;

    /** How the model handles sequences, whose states must fit within a run. Null for a request that is no step. */
    private @Nullable SequenceModel sequences;

    /** Where responses go while this runs; null unless the model is decoupled. */
    private @Nullable ResponseStream responses;

    /** Whether the model may run it again and again. */
    private boolean mayRunAgain;

    // Of the present run.
    private boolean runsAgain;
    private boolean skipsResponse;

    /** A valid request; {@code batchSize} is 0 without a batch dimension, {@code arrivedNanos} of System.nanoTime. */
    PendingInference(
            InferenceRequest request,
            long arrivedNanos,
            int batchSize,
            RequestTensors tensors,
            ModelSignature signature) {
        super(request, arrivedNanos);
        this.batchSize = batchSize;
        this.tensors = tensors;
        this.signature = signature;
        response = new ResponseBuilder(tensors.outputCount());
    }

    @Override
    void renew(long newArrivedNanos) {
        super.renew(newArrivedNanos);
        runStopper = null;
        failure = null;
    }

    /** Makes it a step of a sequence. To be called before this is submitted. */
    void makeStepOf(SequenceModel model, SequenceStep step) {
        sequences = model;
        mayRunAgain = model.isIterative();
        makeStep(step);
    }

    /** Has this run alone while its sender is among {@code senders}. Call before it is submitted. */
    void runAloneIfIn(FailedSenders senders) {
        failedSenders = senders;
    }

    private boolean runsAlone() {
        return failedSenders != null && failedSenders.has(request().sender());
    }

    /** Forgets the run that has failed, for another one of this request. For the instance's thread. */
    void forgetRun() {
        response.drop();
    }

    /** Lets the model ask to run this again, as for steps. Call before it runs. */
    void allowRunAgain() {
        mayRunAgain = true;
    }

    boolean isStep() {
        return sequences != null;
    }

    /** A request for nobody, with these inputs: it stands in a batch where a sequence has no step. */
    PendingInference gap(Tensor[] emptyInputs) {
        PendingInference gap = new PendingInference(
                new InferenceRequest(request().model()),
                arrivedNanos(),
                batchSize,
                new RequestTensors(
                        emptyInputs, new boolean[emptyInputs.length], new RequestedOutput[0], new OutputRule[0]),
                signature);
        gap.allowRunAgain();
        return gap;
    }

    /** Has each response go to {@code receiver} when it is there. To be called before this is submitted. */
    void respondTo(ResponseStream receiver) {
        responses = receiver;
    }

    @Override
    protected void taken() {
        if (!isPiece) {
            request().submitted();
        }
    }

    @Override
    protected void attend() {
        ResponseStream receiver = responses;
        if (receiver != null && !receiver.deliver()) {
            // First, so that a run which this ends finds the reason.
            markCancelled();
            receiver.abandon();
            request().cancellation().cancel();
        }
    }

    /** The same request with more inputs behind its own. Call before anything is done with this. */
    PendingInference with(List<Tensor> more) {
        return new PendingInference(request(), arrivedNanos(), batchSize, tensors.with(more), signature);
    }

    /** When the first of several responses was sent, by {@link System#nanoTime}; 0 before, and for one response. */
    long firstResponseNanos() {
        ResponseStream several = responses;
        return several == null ? 0 : several.firstNanos();
    }

    @Override
    public int batchSize() {
        return batchSize;
    }

    @Override
    protected int size() {
        return Math.max(1, batchSize);
    }

    /** Batches requests of one entry point and equal shapes, but for rows and ragged ones, without failed senders. */
    @Override
    protected boolean joins(PendingRequest first) {
        PendingInference leader = (PendingInference) first;
        return isSameEntryPoint(leader)
                && !runsAlone()
                && !leader.runsAlone()
                && tensors.join(leader.tensors, signature)
                && (sequences == null || sequences.haveSameStates(step(), first.step()));
    }

    @SuppressWarnings("ReferenceEquality") // a model has one signature for each entry point
    private boolean isSameEntryPoint(PendingInference other) {
        return signature == other.signature && batchSize > 0 && other.batchSize > 0;
    }

    ModelSignature signature() {
        return signature;
    }

    RequestTensors tensors() {
        return tensors;
    }

    /** Reuses output {@code index} of the last run, in client memory; null unless datatype, shape and size match. */
    @Nullable
    OutputTensor repeatResult(int index, Datatype datatype, Shape shape, long byteSize) {
        return response.repeat(index, datatype, shape, byteSize);
    }

    /** The result for output {@code index}; null when there is none yet. */
    @Nullable
    OutputTensor result(int index) {
        return response.get(index);
    }

    /** Sets an output and takes over its buffer, null for none. Frees what was there before. */
    void result(int index, OutputTensor result, @Nullable Hold buffer) {
        response.set(index, result, buffer);
    }

    /** Sets an output that lies in {@code bytes} until {@link #settle}; owns {@code hold}, frees the output before. */
    void stage(int index, OutputTensor result, MemorySegment bytes, @Nullable Hold hold) {
        response.stage(index, result, bytes, hold);
    }

    /** Notes that an output is an input's own memory, which then belongs to the response. */
    void showInputs() {
        response.showInputs();
    }

    /** Ends the use of every region: writes staged outputs, and fails when a region was taken away. */
    void settle() {
        if (isPiece) {
            return; // The whole request ends it.
        }
        response.deliver();
        RegionLeases.settle(request().holds());
    }

    void runBy(RunStopper stopper) {
        runStopper = stopper;
        runsAgain = false;
        skipsResponse = false;
    }

    /** Whether the model wants to run this again after the present run. */
    boolean runsAgain() {
        return runsAgain;
    }

    boolean takesOutputs() {
        return failure == null && !skipsResponse && (responses != null || !runsAgain);
    }

    /** The progress of several responses. For the instance's thread. */
    ResponseProgress progress() {
        return responses().progress();
    }

    private ResponseStream responses() {
        ResponseStream stream = responses;
        if (stream == null) {
            throw new IllegalStateException("this request takes a single response");
        }
        return stream;
    }

    /** Whether an output is made that was not sent yet. */
    boolean isAnythingMade() {
        return !response.isEmpty();
    }

    @Override
    void cancel(Scheduler<PendingInference> scheduler) {
        markCancelled();
        if (giveUp(scheduler)) {
            return;
        }
        if (responses != null && !request().takesLateResponses()) {
            responses.abandon();
        }
        RunStopper stopper = runStopper;
        if (stopper != null) {
            stopper.stopCancelled();
        }
    }

    @Override
    public Optional<CorrelationId> correlationId() {
        return isStep() ? Optional.of(AssignedId.of(step())) : request().correlationId();
    }

    @Override
    public boolean startsSequence() {
        return isStep() ? step().starts() : request().sequenceStart();
    }

    @Override
    public boolean endsSequence() {
        return isStep() ? step().ends() : request().sequenceEnd();
    }

    @Override
    public void responseParameter(String name, ParameterValue value) {
        if (name.startsWith("triton_")) {
            throw new IllegalArgumentException("response parameter '" + name
                    + "' begins with triton_, which the protocol keeps for itself; take another name");
        }
        Objects.requireNonNull(value, name);
        parameter(name, value);
    }

    void parameter(String name, ParameterValue value) {
        response.parameter(name, value);
    }

    @Override
    public void runAgain() {
        if (!mayRunAgain) {
            throw RequestErrors.runsOnce(request().model().name());
        }
        runsAgain = true;
    }

    @Override
    public void skipResponse() {
        skipsResponse = responses != null;
    }

    @Override
    public void leaveOut(String output) {
        for (int i = 0; i < tensors.outputCount(); i++) {
            if (tensors.rule(i).name().equals(output)) {
                response.leaveOut(i);
            }
        }
    }

    /** Whether output {@code index} is not to be made. */
    boolean leavesOut(int index) {
        return response.leavesOut(index);
    }

    boolean hasFailed() {
        return failure != null;
    }

    Optional<GatunException> failure() {
        return Optional.ofNullable(failure);
    }

    /** Gives back the outputs; somebody has taken a copy, or nobody wants them. */
    void drop() {
        response.drop();
    }

    /** A request for some of the rows of this one, with these inputs; the outputs do not go to the client's windows. */
    PendingInference piece(int rowCount, Tensor[] rows) {
        PendingInference piece =
                new PendingInference(request(), arrivedNanos(), rowCount, tensors.piece(rows), signature);
        piece.isPiece = true;
        piece.failedSenders = failedSenders;
        return piece;
    }

    /** Ends the request by a failure of a run that the model may have taken part in. */
    void failAfterRun(GatunException reason) {
        request().markStepTaken();
        fail(request().afterRun(reason));
    }

    /** Ends the request without a response; the output buffers go back. */
    @Override
    public void fail(GatunException reason) {
        failure = reason;
        response.drop();
    }

    /** The response, which owns output buffers and regions, and input buffers shown. Throws the failure. */
    InferenceResponse response(String modelName, String versionText) {
        return response(modelName, versionText, false);
    }

    /** As {@link #response}, but the output regions stay the request's, and outputs may be missing. */
    InferenceResponse part(String modelName, String versionText) {
        return response(modelName, versionText, true);
    }

    private InferenceResponse response(String modelName, String versionText, boolean part) {
        if (failure != null) {
            throw failure;
        }
        return response.only(request(), tensors, modelName, versionText, part);
    }

    /**
     * Sends the outputs made so far as one of several responses, but nothing to a request left out. Client windows stay
     * the request's, for later responses. Throws CANCELLED when nobody wants it. For the instance's thread.
     */
    boolean send(boolean last) {
        if (skipsResponse) {
            skipsResponse = false;
            response.drop();
            return false;
        }
        responses().send(response.next(request()), last);
        tellWaiter();
        return true;
    }

    /** As {@link #send}, with a failure in the place of a response. */
    void sendFailure(GatunException reason) {
        response.drop();
        responses().sendFailure(reason);
        tellWaiter();
    }

    private void tellWaiter() {
        if (isAwaitedHere()) {
            attend();
        } else {
            callWaiter();
        }
    }
}
