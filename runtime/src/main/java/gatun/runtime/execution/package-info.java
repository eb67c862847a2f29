/**
 * Runs of a model, from a checked request to its response. A {@link gatun.runtime.execution.LoadedModel}
 * owns a version's instances; the scheduler decides when which instance runs which requests, and this package does the
 * rest.
 *
 * <ol>
 *   <li>On the request's thread {@link gatun.runtime.execution.RequestCheck} holds the request against the model's
 *       {@link gatun.runtime.execution.ModelSignature} and makes an {@link gatun.runtime.execution.PendingInference};
 *       one with more rows than a run may have becomes several ({@link gatun.runtime.execution.SplitRequest}).
 *   <li>On the instance's thread, or the request's if it was lent the instance,
 *       {@link gatun.runtime.execution.ModelInstance} runs requests as one {@link gatun.spi.Execution}, which is how
 *       the backend sees them:
 *       <ul>
 *         <li>{@link gatun.runtime.execution.SingleExecution} for a single request: inputs where they are, outputs
 *         where they go;
 *         <li>{@link gatun.runtime.execution.BatchExecution} for several, put together from
 *         {@link gatun.runtime.execution.GatheredInputs}, {@link gatun.runtime.execution.BatchExecution.ComputedInputs},
 *         {@link gatun.runtime.execution.ScatteredOutputs}, {@link gatun.runtime.execution.BatchResponses}, and
 *         {@link gatun.runtime.execution.SequenceBatch} for steps of sequences.
 *       </ul>
 *   <li>On the request's thread again every lease is settled, and the response is the request's.
 * </ol>
 *
 * A response of several models together is put together by {@link gatun.runtime.execution.ComposedResponse}, for
 * ensembles and the cache.
 */
@NullMarked
package gatun.runtime.execution;

import org.jspecify.annotations.NullMarked;
