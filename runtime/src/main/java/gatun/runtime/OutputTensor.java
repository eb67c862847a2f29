// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.Tensor;

/**
 * An output of a response.
 *
 * @param tensor name, datatype, shape and bytes
 * @param inSharedMemory whether the bytes lie in the client's own region, so that only the metadata is sent
 */
public record OutputTensor(Tensor tensor, boolean inSharedMemory) {}
