/**
 * TensorFlow Serving over gRPC: {@code PredictionService} and {@code ModelService}. Tensors go from the message's own memory to the engine
 * and back without the heap. What TensorFlow calls a signature is an entry point of a model here.
 */
@NullMarked
package gatun.grpc.tensorflow;

import org.jspecify.annotations.NullMarked;
