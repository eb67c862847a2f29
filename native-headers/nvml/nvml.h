/*
 * What Gatun calls of the NVIDIA Management Library, which comes with the driver (libnvidia-ml.so.1); declared by ourselves after its API
 * reference, since its header comes with the toolkit only.
 */
#ifndef GATUN_NVML_H
#define GATUN_NVML_H

typedef struct nvmlDevice_st *nvmlDevice_t;

typedef int nvmlReturn_t;

enum { NVML_SUCCESS = 0, NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96 };

/* Percent of the last sample period, of a second at most, in which a kernel ran, and in which memory was read or written. */
typedef struct nvmlUtilization_st {
    unsigned int gpu;
    unsigned int memory;
} nvmlUtilization_t;

/* Bytes. */
typedef struct nvmlMemory_st {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_t;

nvmlReturn_t nvmlInit_v2(void);
const char *nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
/* Milliwatts. */
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *limit);
/* Millijoules since the driver was loaded. */
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy);

#endif
