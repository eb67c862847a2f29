// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.spi.ExecutionRequest;
import java.util.Arrays;
import java.util.List;

/** Rows between requests, where a batch may be cut: a request's rows may depend on one another. Not thread-safe. */
final class RequestBorders {
    /** The row after the last one of each request. */
    private long[] ends = new long[8];

    private int count;

    /** Takes a batch's borders, requests in row order; false without one, or where a row's request is unknown. */
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

    /** Cuts a batch evenly into at most {@code partEnds.length} parts of whole requests, whose ends go there. */
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
