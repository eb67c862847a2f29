/**
 * The meaning of TensorFlow Serving's requests, over REST and gRPC: the model that answers and its signature, its
 * outputs as classes and values, and the texts of refusals. A signature of TensorFlow is an entry point of a model
 * here.
 */
@NullMarked
package gatun.tensorflow.serving;

import org.jspecify.annotations.NullMarked;
