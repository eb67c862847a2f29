// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.workers.WorkerMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rows of one request in a batch whose requests come in the same tensors, such as steps of sequences. */
final class RowRequest implements RunRequest {
    private final RowBatch batch;
    private final ExecutionRequest request;
    private final int firstRow;

    private RowRequest(RowBatch batch, ExecutionRequest request, int firstRow) {
        this.batch = batch;
        this.request = request;
        this.firstRow = firstRow;
    }

    /** Each request with its rows; empty where tensors have no rows for each. {@code ranks} include the batch. */
    static Optional<RowBatch> of(
            Execution execution, WorkerMemory memory, boolean decoupled, Map<String, Integer> ranks) {
        int rows = 0;
        for (ExecutionRequest request : execution.requests()) {
            rows += request.batchSize();
        }
        for (int i = 0; i < execution.inputCount(); i++) {
            TensorSpec spec = execution.inputSpec(i);
            boolean shared = spec.shape().rank() > 0 && spec.shape().dim(0) == rows;
            if (!shared) {
                return Optional.empty();
            }
        }
        RowBatch batch = new RowBatch(execution, memory, decoupled, rows, ranks);
        int row = 0;
        List<RowRequest> requests = new ArrayList<>();
        for (ExecutionRequest request : execution.requests()) {
            requests.add(new RowRequest(batch, request, row));
            row += request.batchSize();
        }
        batch.requests(requests);
        return Optional.of(batch);
    }

    int firstRow() {
        return firstRow;
    }

    int rowCount() {
        return request.batchSize();
    }

    ExecutionRequest row() {
        return request;
    }

    @Override
    public Optional<ExecutionRequest> request() {
        return Optional.of(request);
    }

    @Override
    public List<Tensor> inputs() {
        List<Tensor> inputs = new ArrayList<>();
        for (int i = 0; i < batch.execution().inputCount(); i++) {
            Tensor all = batch.execution().input(i);
            TensorSpec spec = all.spec();
            inputs.add(new Tensor(
                    new TensorSpec(spec.name(), spec.datatype(), spec.shape().withFirst(rowCount())),
                    Rows.slice(all, firstRow, rowCount())));
        }
        return inputs;
    }

    @Override
    public List<String> wantedOutputs() {
        return WholeRequest.names(batch.execution());
    }

    @Override
    public void take(WorkerResponse response, boolean more) {
        batch.take(this, response, more);
    }

    /** A step of a sequence ends by its first failure. */
    @Override
    public void takeFailure(GatunException reason) {
        throw reason;
    }

    @Override
    public void fail(GatunException reason) {
        request.fail(reason);
    }

    @Override
    public void runAgain() {
        request.runAgain();
    }
}
