/** The memory of GPUs, through CUDA's driver: devices, streams, pools, and copies between there and system memory. */
@NullMarked
package gatun.memory.cuda;

import org.jspecify.annotations.NullMarked;
