// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.List;
import java.util.Objects;

/**
 * How requests share runs of a model whose own configuration does not say it. Requests join along the first dimension
 * of their tensors where the model leaves that open, also where the configuration knows no batch dimension.
 *
 * @param maxBatchSize the most rows that one request may have; at least 1
 * @param maxRunSize the most rows of one run; less than {@code maxBatchSize} where greater requests are to be split
 *     over several runs
 * @param maxDelayNanos how long the oldest request may be kept while an instance is idle, in the hope of more; 0 for
 *     not at all
 * @param maxWaitingRuns how many full runs may wait for an instance before requests are refused; at least 1
 * @param parallelRuns how many runs there may be at a time: the model's instances where its configuration names none;
 *     at least 1
 * @param runSizes the sizes that runs are padded to, by copies of the first row of the last request; ascending, none
 *     above {@code maxRunSize}; empty for runs of any size
 * @param padsShapes whether requests join too whose tensors differ in other dimensions than the first: what is missing
 *     is filled with zeros, or empty strings
 */
public record BatchingRule(
        int maxBatchSize,
        int maxRunSize,
        long maxDelayNanos,
        int maxWaitingRuns,
        int parallelRuns,
        List<Integer> runSizes,
        boolean padsShapes) {
    /**
     * Checks the numbers and copies the list.
     *
     * @throws IllegalArgumentException when one of them is too small
     */
    public BatchingRule {
        Objects.requireNonNull(runSizes, "runSizes");
        if (maxRunSize < 1 || maxBatchSize < maxRunSize || maxWaitingRuns < 1 || parallelRuns < 1) {
            throw new IllegalArgumentException(
                    "a batching rule needs sizes and counts from 1 up, and no runs greater than"
                            + " requests may be: " + maxBatchSize + ", " + maxRunSize + ", " + maxWaitingRuns + ", "
                            + parallelRuns);
        }
        runSizes = List.copyOf(runSizes);
    }

    /** The same for a model whose requests may have {@code size} rows at most. */
    public BatchingRule withMaxBatchSize(int size) {
        int run = Math.min(size, maxRunSize);
        List<Integer> sizes = runSizes.stream().filter(padded -> padded <= run).toList();
        return new BatchingRule(size, run, maxDelayNanos, maxWaitingRuns, parallelRuns, sizes, padsShapes);
    }

    /** The size that a run of {@code rows} is padded to; {@code rows} itself where none is named. */
    public int runSize(int rows) {
        for (int i = 0; i < runSizes.size(); i++) {
            if (runSizes.get(i) >= rows) {
                return runSizes.get(i);
            }
        }
        return rows;
    }
}
