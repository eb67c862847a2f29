/*
 * What Gatun calls of CUDA's driver API. jextract reads this header with CUDA 13.0's; jextract.args names the symbols.
 *
 * The argument file has the symbols as the library exports them (cuMemAlloc_v2): the names without a version are macros,
 * which jextract does not see.
 */
#ifndef GATUN_CUDA_H
#define GATUN_CUDA_H

#include <cuda.h>

#endif
