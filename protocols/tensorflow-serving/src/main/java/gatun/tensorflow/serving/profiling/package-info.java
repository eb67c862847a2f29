// SPDX-License-Identifier: Apache-2.0
/** Recordings of requests, in the forms of TensorFlow's profilers. */
@NullMarked
package gatun.tensorflow.serving.profiling;

import org.jspecify.annotations.NullMarked;
