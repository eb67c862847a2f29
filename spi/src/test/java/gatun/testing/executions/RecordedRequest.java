// SPDX-License-Identifier: Apache-2.0
package gatun.testing.executions;

import gatun.memory.tensor.GatunException;
import gatun.spi.CorrelationId;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request of a {@link RecordedExecution}, of which nothing is known but its rows, and what a backend said of it. */
public final class RecordedRequest implements ExecutionRequest {
    private final Map<String, ParameterValue> responseParameters = new LinkedHashMap<>();
    private final List<GatunException> failures = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();
    private final int batchSize;
    private int timesSkipped;
    private int timesAgain;

    RecordedRequest(int batchSize) {
        this.batchSize = batchSize;
    }

    /** The parameters that its response has got. */
    public Map<String, ParameterValue> responseParameters() {
        return responseParameters;
    }

    /** What it was failed with, each time. */
    public List<GatunException> failures() {
        return failures;
    }

    /** The outputs that its response goes without. */
    public List<String> leftOut() {
        return leftOut;
    }

    /** How often it was left without a response. */
    public int timesSkipped() {
        return timesSkipped;
    }

    /** How often it was to run once more. */
    public int timesAgain() {
        return timesAgain;
    }

    @Override
    public String id() {
        return "";
    }

    @Override
    public Optional<CorrelationId> correlationId() {
        return Optional.empty();
    }

    @Override
    public boolean startsSequence() {
        return false;
    }

    @Override
    public boolean endsSequence() {
        return false;
    }

    @Override
    public int batchSize() {
        return batchSize;
    }

    @Override
    public Map<String, ParameterValue> parameters() {
        return Map.of();
    }

    @Override
    public void leaveOut(String output) {
        leftOut.add(output);
    }

    @Override
    public void responseParameter(String name, ParameterValue value) {
        responseParameters.put(name, value);
    }

    @Override
    public void runAgain() {
        timesAgain++;
    }

    @Override
    public void skipResponse() {
        timesSkipped++;
    }

    @Override
    public boolean cancelled() {
        return false;
    }

    @Override
    public long timeoutMicros() {
        return 0;
    }

    @Override
    public long priority() {
        return 0;
    }

    @Override
    public Optional<String> traceContext() {
        return Optional.empty();
    }

    @Override
    public void traceActivity(String name) {
        throw new AssertionError("nobody traces '" + name + "'");
    }

    @Override
    public void fail(GatunException reason) {
        failures.add(reason);
    }
}
