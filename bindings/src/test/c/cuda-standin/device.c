/* The library and its devices: how many there are and what they say of themselves. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { DEFAULT_DEVICES = 2, MAJOR = 9, MINOR = 0, FIRST_BUS = 0x17, WARP = 32, MULTIPROCESSORS = 16 };

static const size_t DEFAULT_MEMORY = (size_t)1 << 30;

static struct context contexts[MAX_DEVICES];
static int devices;
static size_t memory;
static bool peers;
static bool initialised;
static pthread_once_t started = PTHREAD_ONCE_INIT;

static void read_environment(void) {
    const char *wanted = getenv("GATUN_STANDIN_DEVICES");
    const char *bytes = getenv("GATUN_STANDIN_MEMORY");
    const char *connected = getenv("GATUN_STANDIN_PEERS");
    devices = wanted == NULL ? DEFAULT_DEVICES : atoi(wanted);
    if (devices < 0 || devices > MAX_DEVICES) {
        fprintf(stderr, "stand-in for CUDA: GATUN_STANDIN_DEVICES is '%s', expected 0 to %d\n", wanted, MAX_DEVICES);
        abort();
    }
    memory = bytes == NULL ? DEFAULT_MEMORY : strtoull(bytes, NULL, 10);
    peers = connected != NULL && strcmp(connected, "1") == 0;
    for (int device = 0; device < MAX_DEVICES; device++) {
        contexts[device].device = device;
    }
    pthread_mutex_lock(&standin_lock);
    arm_from_environment();
    pthread_mutex_unlock(&standin_lock);
}

void start_library(void) {
    pthread_once(&started, read_environment);
}

int device_count(void) {
    return initialised ? devices : NO_DEVICE;
}

struct context *context_of(int device) {
    return &contexts[device];
}

bool peers_possible(void) {
    return peers;
}

size_t total_memory(void) {
    return memory;
}

/* The stand-in's own memory: where that runs out, no test can go on. */
void *must(void *allocated) {
    if (allocated == NULL) {
        fprintf(stderr, "stand-in for CUDA: out of host memory\n");
        abort();
    }
    return allocated;
}

/* Never the same twice, so that a handle that was given back is never taken for a new one. Called under the lock. */
uint64_t new_handle(void) {
    static uint64_t last = 0x51A4D0000000;
    return last += 16;
}

CUresult CUDAAPI cuInit(unsigned int flags) {
    start_library();
    pthread_mutex_lock(&standin_lock);
    CUresult result = flags != 0 ? CUDA_ERROR_INVALID_VALUE : injected(__func__, NULL);
    if (result == CUDA_SUCCESS && devices == 0) {
        result = CUDA_ERROR_NO_DEVICE;
    }
    initialised |= result == CUDA_SUCCESS;
    pthread_mutex_unlock(&standin_lock);
    return result;
}

/* Answers before cuInit too, as the driver's does. */
CUresult CUDAAPI cuDriverGetVersion(int *version) {
    if (version == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (count == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            *count = devices;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (device == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else if (ordinal < 0 || ordinal >= devices) {
            result = CUDA_ERROR_INVALID_DEVICE;
        } else {
            *device = ordinal;
        }
        leave_library();
    }
    return result;
}

/* A text of the device, cut off where there is no room for it. */
static CUresult answer_text(const char *function, CUdevice device, char *text, int length, const char *format, int number) {
    CUresult result = enter_library(function, device);
    if (result == CUDA_SUCCESS) {
        if (text == NULL || length <= 0) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            snprintf(text, (size_t)length, format, number);
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
    return answer_text(__func__, device, name, length, "Gatun stand-in GPU", device);
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    return answer_text(__func__, device, id, length, "0000:%02X:00.0", FIRST_BUS + device);
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if (uuid == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            memcpy(uuid->bytes, "gatun-stand-in-", sizeof uuid->bytes);
            uuid->bytes[sizeof uuid->bytes - 1] = (char)('0' + device);
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if (bytes == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            *bytes = memory;
        }
        leave_library();
    }
    return result;
}

/* What a device of compute capability 9.0 says; -1 for what the stand-in has no answer to. */
static int attribute_value(CUdevice_attribute attribute, CUdevice device) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return MAJOR;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return MINOR;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return MAX_THREADS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return MAX_BLOCK_Z;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return MAX_GRID_YZ;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return SHARED_BYTES;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return SHARED_BYTES_ON_REQUEST;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        return 1 << 16;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return WARP;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return MULTIPROCESSORS;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return 1000 * 1000;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        return 2;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
        return 1;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return FIRST_BUS + device;
    default:
        return -1;
    }
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        int answer = attribute_value(attribute, device);
        if (value == NULL || answer < 0) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            *value = answer;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if (can == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else if (peer < 0 || peer >= devices) {
            result = CUDA_ERROR_INVALID_DEVICE;
        } else {
            *can = peers && device != peer;
        }
        leave_library();
    }
    return result;
}
