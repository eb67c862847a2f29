// SPDX-License-Identifier: Apache-2.0
/** What requests did for a while, as TensorFlow's profilers want it told. */
@NullMarked
package gatun.tensorflow.serving.profiling;

import org.jspecify.annotations.NullMarked;
