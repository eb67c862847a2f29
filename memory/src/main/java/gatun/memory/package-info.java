/** Tensors over native memory and who may use that memory for how long. */
@NullMarked
package gatun.memory;

import org.jspecify.annotations.NullMarked;
