// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Serving's protocol as the server speaks it: its routes and its services. */
@NullMarked
package gatun.tensorflow.serving.protocol;

import org.jspecify.annotations.NullMarked;
