// SPDX-License-Identifier: Apache-2.0
/**
 * Worker processes. A {@link gatun.workers.WorkerProcess} is one process and the frames between it and the server, which
 * go through its standard input and output; its tensors lie in a {@link gatun.workers.WorkerMemory}, which both map. A
 * {@link gatun.workers.RestartPolicy} says when the next is started after one that has ended.
 */
@NullMarked
package gatun.workers;

import org.jspecify.annotations.NullMarked;
