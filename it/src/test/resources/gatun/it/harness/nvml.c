/* Stands in for the NVIDIA Management Library: a machine of two GPUs, of which the second tells little. */
#include <nvml.h>
#include <string.h>

enum { NOT_SUPPORTED = 3 };

struct nvmlDevice_st {
    const char *uuid;
    int telling;
};

static struct nvmlDevice_st gpus[] = {{"GPU-first", 1}, {"GPU-second", 0}};
static unsigned long long energy = 5000;

nvmlReturn_t nvmlInit_v2(void) { return NVML_SUCCESS; }

const char *nvmlErrorString(nvmlReturn_t result) { return result == NVML_SUCCESS ? "Success" : "Not Supported"; }

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    *count = 2;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    *device = &gpus[index];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    strncpy(uuid, device->uuid, length);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    utilization->gpu = 75;
    utilization->memory = 20;
    return device->telling ? NVML_SUCCESS : NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    (void)device;
    memory->total = 6000000000ull;
    memory->free = 5000000000ull;
    memory->used = 1000000000ull;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power) {
    *power = 123500;
    return device->telling ? NVML_SUCCESS : NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *limit) {
    *limit = 700000;
    return device->telling ? NVML_SUCCESS : NOT_SUPPORTED;
}

/* Half a joule more each time. */
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *total) {
    if (!device->telling) {
        return NOT_SUPPORTED;
    }
    *total = energy;
    energy += 500;
    return NVML_SUCCESS;
}
