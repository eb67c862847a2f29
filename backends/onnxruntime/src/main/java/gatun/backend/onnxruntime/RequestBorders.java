// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.spi.ExecutionRequest;
import java.util.Arrays;
import java.util.List;

/**
 * The rows at which a batch may be cut into parts: those between two requests. A request's rows stay together, since
 * they may depend on one another, and its response must not depend on how it was run. Not thread-safe.
 */
final class RequestBorders {
    /** The row after the last one of each request. */
    private long[] ends = new long[8];

    private int count;

    /**
     * Takes the borders of a batch.
     *
     * @param requests those that the batch is for, in the order of their rows
     * @return whether there is a row to cut at; false also where some rows are not known to be a request's
     */
    boolean take(List<ExecutionRequest> requests, long rows) {
        count = 0;
        long end = 0;
        for (ExecutionRequest request : requests) {
            if (request.batchSize() < 1) {
                return false;
            }
            end += request.batchSize();
            if (count == ends.length) {
                ends = Arrays.copyOf(ends, 2 * count);
            }
            ends[count++] = end;
        }
        return count > 1 && end == rows;
    }

    /**
     * Cuts the batch into parts of about the same size, each of one request at least.
     *
     * @param partEnds receives the row after the last one of each part; its length is the most parts that there may be
     */
    int cut(long[] partEnds) {
        int parts = Math.min(partEnds.length, count);
        long rows = ends[count - 1];
        int request = 0;
        for (int part = 1; part < parts; part++) {
            long wanted = rows * part / parts;
            int last = count - 1 - (parts - part);
            while (request < last && distance(request + 1, wanted) <= distance(request, wanted)) {
                request++;
            }
            partEnds[part - 1] = ends[request++];
        }
        partEnds[parts - 1] = rows;
        return parts;
    }

    private long distance(int request, long row) {
        return Math.abs(ends[request] - row);
    }
}
