// SPDX-License-Identifier: Apache-2.0
/**
 * The graph of an ONNX file, as far as it tells how a run uses the memory of inputs and outputs, and whether the rows
 * of a batch depend on one another. The engine's own interface does not show it. See decision 82.
 */
@org.jspecify.annotations.NullMarked
package gatun.backend.onnxruntime.graph;
