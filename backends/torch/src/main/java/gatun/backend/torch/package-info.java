/** Runs models of PyTorch's AOTInductor. */
@NullMarked
package gatun.backend.torch;

import org.jspecify.annotations.NullMarked;
