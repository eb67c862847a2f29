/** TensorFlow Serving's protocol over HTTP: its paths, its JSON in rows and columns, and its answers to the byte. */
@NullMarked
package gatun.http.tensorflow;

import org.jspecify.annotations.NullMarked;
