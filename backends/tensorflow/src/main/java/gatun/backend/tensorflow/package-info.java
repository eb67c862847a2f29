/** SavedModels on TensorFlow. Starts at {@link gatun.backend.tensorflow.TensorFlowBackend}. */
@NullMarked
package gatun.backend.tensorflow;

import org.jspecify.annotations.NullMarked;
