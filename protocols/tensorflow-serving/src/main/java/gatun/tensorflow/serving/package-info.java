/**
 * The meaning of TensorFlow Serving's requests, over REST and gRPC: which model answers, by which signature, what its
 * outputs are as classes and values, and in which words something is refused. What TensorFlow calls a signature is an
 * entry point of a model here.
 */
@NullMarked
package gatun.tensorflow.serving;

import org.jspecify.annotations.NullMarked;
