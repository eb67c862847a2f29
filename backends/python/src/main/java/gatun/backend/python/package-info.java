// SPDX-License-Identifier: Apache-2.0
/**
 * Python models as Triton has them: {@code model.py} with a class {@code TritonPythonModel}. Each instance is a process
 * ({@link gatun.backend.python.PythonWorker}) that runs the Python files of this module's resources; frames go through its
 * standard input and output, tensors through memory that both map. {@link gatun.backend.python.PythonInstance} starts it
 * again when it ends. {@link gatun.backend.python.ServerCalls} does what a model asks of the server.
 */
@NullMarked
package gatun.backend.python;

import org.jspecify.annotations.NullMarked;
