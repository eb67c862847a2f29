// SPDX-License-Identifier: Apache-2.0
/**
 * TensorFlow Serving over gRPC: {@code PredictionService} and {@code ModelService}. Tensors go from the message's own
 * memory to the engine and back without the heap. What TensorFlow calls a signature is an entry point of a model here.
 */
@NullMarked
package gatun.tensorflow.serving.grpc;

import org.jspecify.annotations.NullMarked;
