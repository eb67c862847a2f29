// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import gatun.workers.WorkerMemory;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The responses of a batch with common output tensors, copied to their rows. For the run's thread. */
final class RowBatch {
    private final Execution execution;
    private final WorkerMemory memory;
    private final boolean decoupled;
    private final int rows;
    private final Map<String, Integer> ranks;
    private final Map<RowRequest, WorkerResponse> taken = new LinkedHashMap<>();
    private List<RowRequest> requests = List.of();

    /** @param ranks how many dimensions outputs have by the configuration, with the batch dimension */
    RowBatch(Execution execution, WorkerMemory memory, boolean decoupled, int rows, Map<String, Integer> ranks) {
        this.execution = execution;
        this.memory = memory;
        this.decoupled = decoupled;
        this.rows = rows;
        this.ranks = ranks;
    }

    void requests(List<RowRequest> all) {
        requests = List.copyOf(all);
    }

    List<RowRequest> requests() {
        return requests;
    }

    Execution execution() {
        return execution;
    }

    int rows() {
        return rows;
    }

    /** Takes a response; owns its blocks. That of a decoupled model goes out now, others when all are there. */
    void take(RowRequest request, WorkerResponse response, boolean more) {
        taken.put(request, request.rowCount() == 1 ? withBatchDimension(response) : response);
        if (decoupled) {
            write();
            for (RowRequest other : requests) {
                if (other != request) {
                    other.row().skipResponse();
                }
            }
            execution.send();
        }
    }

    private WorkerResponse withBatchDimension(WorkerResponse response) {
        return new WorkerResponse(
                response.error(),
                response.parameters(),
                response.tensors().stream()
                        .map(tensor -> tensor.withBatchDimension(ranks))
                        .toList());
    }

    /** Makes the outputs of all responses that were taken and did not go out. */
    void finish() {
        if (!taken.isEmpty()) {
            write();
        }
    }

    private void write() {
        try {
            for (int i = 0; i < execution.outputCount(); i++) {
                write(i, execution.outputName(i));
            }
            taken.forEach((request, response) -> WholeRequest.setParameters(request.row(), response));
        } finally {
            taken.values().forEach(response -> response.drop(memory));
            taken.clear();
        }
    }

    private void write(int output, String name) {
        TensorSpec first = null;
        for (WorkerResponse response : taken.values()) {
            WorkerTensor tensor = tensor(response, name);
            first = first == null && tensor != null ? tensor.spec() : first;
        }
        for (RowRequest request : taken.keySet()) {
            if (tensor(taken.get(request), name) == null) {
                request.row().leaveOut(name);
            }
        }
        if (first == null) {
            return;
        }
        if (first.shape().elementCount() < 0) {
            throw noShape(name, first);
        }
        if (first.shape().rank() == 0) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "output '" + name + "' of one request of a batch has no dimensions: expected its rows as the first,"
                            + " since these requests share their tensors");
        }
        if (!first.datatype().isFixedSize()) {
            writeStrings(output, name, first);
            return;
        }
        long rowBytes = first.shape().elementCount(1) * first.datatype().byteSize();
        MemorySegment target =
                execution.output(output, first.datatype(), first.shape().withFirst(rows), rows * rowBytes);
        for (RowRequest request : requests) {
            MemorySegment part = target.asSlice(request.firstRow() * rowBytes, request.rowCount() * rowBytes);
            WorkerTensor tensor = part(request, name, first);
            if (tensor == null) {
                part.fill((byte) 0);
            } else {
                MemorySegment.copy(memory.response(tensor.offset(), part.byteSize()), 0, part, 0, part.byteSize());
            }
        }
    }

    private static GatunException noShape(String name, TensorSpec spec) {
        return new GatunException(
                ErrorCode.INTERNAL,
                "output '" + name + "' has shape " + spec.shape() + ": expected dimensions of 0 or more");
    }

    /** Rows without a response have empty strings. */
    private void writeStrings(int output, String name, TensorSpec first) {
        long rowElements = first.shape().elementCount(1);
        long byteSize = 0;
        for (RowRequest request : requests) {
            WorkerTensor tensor = part(request, name, first);
            byteSize += tensor == null ? request.rowCount() * rowElements * Integer.BYTES : tensor.byteSize();
        }
        MemorySegment target =
                execution.output(output, first.datatype(), first.shape().withFirst(rows), byteSize);
        long at = 0;
        for (RowRequest request : requests) {
            WorkerTensor tensor = part(request, name, first);
            long length = tensor == null ? request.rowCount() * rowElements * Integer.BYTES : tensor.byteSize();
            if (tensor == null) {
                target.asSlice(at, length).fill((byte) 0);
            } else {
                MemorySegment.copy(memory.response(tensor.offset(), length), 0, target, at, length);
            }
            at += length;
        }
    }

    /** The output of a request, which has as many rows as it and the shape of the others; null when it has none. */
    private @Nullable WorkerTensor part(RowRequest request, String name, TensorSpec first) {
        WorkerResponse response = taken.get(request);
        WorkerTensor tensor = response == null ? null : tensor(response, name);
        if (tensor != null
                && (tensor.spec().datatype() != first.datatype()
                        || !tensor.spec().shape().equals(first.shape().withFirst(request.rowCount())))) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "output '" + name + "' of one request of a batch has datatype "
                            + tensor.spec().datatype()
                            + " and shape " + tensor.spec().shape() + ": expected "
                            + first.datatype() + " and " + first.shape().withFirst(request.rowCount())
                            + ", as the others have, since these requests share their tensors");
        }
        return tensor;
    }

    private static @Nullable WorkerTensor tensor(WorkerResponse response, String name) {
        int at = WholeRequest.indexOf(response.tensors(), name);
        return at < 0 ? null : response.tensors().get(at);
    }
}
