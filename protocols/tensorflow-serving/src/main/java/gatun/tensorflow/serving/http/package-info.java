// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Serving's protocol over HTTP: its paths, its JSON in rows and columns, and its responses to the byte. */
@NullMarked
package gatun.tensorflow.serving.http;

import org.jspecify.annotations.NullMarked;
