/**
 * Tensors: datatype, shape, and a window of native memory or of a GPU under a hold that keeps it valid. The
 * BYTES layout, copies of tensors, and the errors that everything else speaks in are here too. Knows no pool and no
 * region.
 */
@NullMarked
package gatun.memory.tensor;

import org.jspecify.annotations.NullMarked;
