// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.TensorSpec;

/**
 * A tensor in response memory.
 *
 * @param offset where its bytes begin
 * @param byteSize how many there are
 */
record WorkerTensor(TensorSpec spec, long offset, long byteSize) {}
