/* What Gatun calls of CUDA's runtime API. jextract reads this header with CUDA 13.0's; jextract.args names the symbols. */
#ifndef GATUN_CUDART_H
#define GATUN_CUDART_H

#include <cuda_runtime_api.h>

#endif
