/** Models that are CUDA kernels: what their configurations say of launches, and the launches. */
@NullMarked
package gatun.backend.cuda;

import org.jspecify.annotations.NullMarked;
