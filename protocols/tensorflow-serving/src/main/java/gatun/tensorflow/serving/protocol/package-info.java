// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Serving's protocol as the server offers it. */
@NullMarked
package gatun.tensorflow.serving.protocol;

import org.jspecify.annotations.NullMarked;
