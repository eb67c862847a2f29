// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.isolation.frames.Told;
import gatun.memory.tensor.GatunException;
import gatun.spi.CorrelationId;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the server says of a request, and what the engine tells of it. For the instance's thread. */
final class HostedRequest implements ExecutionRequest {
    private static final int STARTS = 1;
    private static final int ENDS = 2;

    private final HostedInstance.Responses responses;
    private final String id;
    private final Optional<CorrelationId> sequence;
    private final int flags;
    private final int batchSize;
    private final Map<String, ParameterValue> parameters;
    private final long timeoutMicros;
    private final long priority;
    private final String traceContext;
    private final List<Told> told = new ArrayList<>();

    private HostedRequest(FrameReader frame, HostedInstance.Responses responses) {
        this.responses = responses;
        id = frame.text();
        sequence = FrameValues.readSequence(frame);
        flags = frame.u8();
        batchSize = frame.u32();
        parameters = FrameValues.readParameters(frame);
        timeoutMicros = frame.u64();
        priority = frame.u64();
        traceContext = frame.text();
    }

    static HostedRequest read(FrameReader frame, HostedInstance.Responses responses) {
        return new HostedRequest(frame, responses);
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public Optional<CorrelationId> correlationId() {
        return sequence;
    }

    @Override
    public boolean startsSequence() {
        return (flags & STARTS) != 0;
    }

    @Override
    public boolean endsSequence() {
        return (flags & ENDS) != 0;
    }

    @Override
    public int batchSize() {
        return batchSize;
    }

    @Override
    public Map<String, ParameterValue> parameters() {
        return parameters;
    }

    @Override
    public void responseParameter(String name, ParameterValue value) {
        told.add(new Told.Parameter(name, value));
    }

    @Override
    public void runAgain() {
        told.add(new Told.Again());
    }

    @Override
    public void skipResponse() {
        told.add(new Told.Skip());
    }

    @Override
    public void leaveOut(String output) {
        told.add(new Told.LeftOut(output));
    }

    @Override
    public boolean cancelled() {
        return responses.isUnwanted();
    }

    @Override
    public long timeoutMicros() {
        return timeoutMicros;
    }

    @Override
    public long priority() {
        return priority;
    }

    @Override
    public Optional<String> traceContext() {
        return traceContext.isEmpty() ? Optional.empty() : Optional.of(traceContext);
    }

    @Override
    public void traceActivity(String name) {
        told.add(new Told.Activity(name));
    }

    @Override
    public void fail(GatunException reason) {
        told.add(new Told.Failure(reason));
    }

    /** Writes what the engine has told since it was sent last. */
    void writeTold(FrameWriter frame) {
        frame.u32(told.size());
        told.forEach(one -> one.write(frame));
    }

    /** Forgets what was sent. */
    void forget() {
        told.clear();
    }
}
