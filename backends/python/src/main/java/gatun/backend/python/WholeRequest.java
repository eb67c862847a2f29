// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.workers.WorkerMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An execution as one request: it is for one, or its tensors cannot be shared out. */
final class WholeRequest implements RunRequest {
    private final Execution execution;
    private final WorkerMemory memory;
    private final Map<String, Integer> ranks;

    /** @param ranks how many dimensions outputs have where an execution shares them; empty where it does not */
    WholeRequest(Execution execution, WorkerMemory memory, Map<String, Integer> ranks) {
        this.execution = execution;
        this.memory = memory;
        this.ranks = ranks;
    }

    @Override
    public Optional<ExecutionRequest> request() {
        List<ExecutionRequest> requests = execution.requests();
        return requests.isEmpty() ? Optional.empty() : Optional.of(requests.getFirst());
    }

    @Override
    public List<Tensor> inputs() {
        List<Tensor> inputs = new ArrayList<>(execution.inputCount());
        for (int i = 0; i < execution.inputCount(); i++) {
            inputs.add(execution.input(i));
        }
        return inputs;
    }

    @Override
    public List<String> wantedOutputs() {
        return names(execution);
    }

    static List<String> names(Execution execution) {
        List<String> names = new ArrayList<>(execution.outputCount());
        for (int i = 0; i < execution.outputCount(); i++) {
            names.add(execution.outputName(i));
        }
        return names;
    }

    @Override
    public void take(WorkerResponse response, boolean more) {
        List<@Nullable WorkerTensor> left = new ArrayList<>(response.tensors());
        try {
            for (int i = 0; i < execution.outputCount(); i++) {
                int at = indexOf(left, execution.outputName(i));
                WorkerTensor tensor = at < 0 ? null : left.set(at, null);
                if (tensor != null) {
                    lend(i, isOneRow() ? tensor.withBatchDimension(ranks) : tensor);
                } else {
                    String missing = execution.outputName(i);
                    request().ifPresent(request -> request.leaveOut(missing));
                }
            }
            request().ifPresent(request -> setParameters(request, response));
        } finally {
            for (WorkerTensor tensor : left) {
                if (tensor != null) {
                    memory.giveBack(tensor.offset(), tensor.byteSize());
                }
            }
        }
        if (more) {
            execution.send();
        }
    }

    private boolean isOneRow() {
        return !ranks.isEmpty() && request().map(ExecutionRequest::batchSize).orElse(0) == 1;
    }

    private void lend(int output, WorkerTensor tensor) {
        execution.lendOutput(
                output,
                tensor.spec().datatype(),
                tensor.spec().shape(),
                memory.response(tensor.offset(), tensor.byteSize()),
                memory.hold(tensor.offset(), tensor.byteSize()));
    }

    static int indexOf(List<? extends @Nullable WorkerTensor> tensors, String name) {
        for (int i = 0; i < tensors.size(); i++) {
            WorkerTensor tensor = tensors.get(i);
            if (tensor != null && tensor.spec().name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    static void setParameters(ExecutionRequest request, WorkerResponse response) {
        try {
            response.parameters().forEach(request::responseParameter);
        } catch (IllegalArgumentException e) {
            throw GatunException.invalidArgument(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void takeFailure(GatunException reason) {
        execution.sendFailure(reason);
    }

    @Override
    public void fail(GatunException reason) {
        request().ifPresentOrElse(request -> request.fail(reason), () -> {
            throw reason;
        });
    }

    @Override
    public void runAgain() {
        request().ifPresent(ExecutionRequest::runAgain);
    }
}
