/** The ONNX Runtime backend: sessions, values and their lifetimes, configuration from a model's own description. */
@NullMarked
package gatun.backend.onnxruntime;

import org.jspecify.annotations.NullMarked;
