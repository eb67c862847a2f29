/*
 * What Gatun calls of PyTorch's C interface for models of AOTInductor: functions of libtorch_cpu.so, and as function types those that each
 * model's own library has; declared by ourselves, since the headers do not come with the libraries. Functions return 0, or another number
 * when they fail.
 */
#ifndef GATUN_TORCH_H
#define GATUN_TORCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct AtenTensorOpaque *AtenTensorHandle;

/* Numbers of element types, and of the kind of device that is the processor. */
int32_t aoti_torch_dtype_bool(void);
int32_t aoti_torch_dtype_uint8(void);
int32_t aoti_torch_dtype_uint16(void);
int32_t aoti_torch_dtype_uint32(void);
int32_t aoti_torch_dtype_uint64(void);
int32_t aoti_torch_dtype_int8(void);
int32_t aoti_torch_dtype_int16(void);
int32_t aoti_torch_dtype_int32(void);
int32_t aoti_torch_dtype_int64(void);
int32_t aoti_torch_dtype_float16(void);
int32_t aoti_torch_dtype_bfloat16(void);
int32_t aoti_torch_dtype_float32(void);
int32_t aoti_torch_dtype_float64(void);
int32_t aoti_torch_device_type_cpu(void);

/* A tensor that shows memory of the caller's, who keeps it until the tensor is deleted. */
int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes, const int64_t *strides, int64_t storage_offset,
                                           int32_t dtype, int32_t device_type, int32_t device_index, AtenTensorHandle *out);
int32_t aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
int32_t aoti_torch_get_data_ptr(AtenTensorHandle tensor, void **out);
int32_t aoti_torch_get_dim(AtenTensorHandle tensor, int64_t *out);
int32_t aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t *out);
int32_t aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t *out);
/* Memory of the tensor's, as many numbers as it has dimensions. */
int32_t aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t **out);
int32_t aoti_torch_get_strides(AtenTensorHandle tensor, int64_t **out);
/* Copies elements, whatever the strides of the two are. */
int32_t aoti_torch_copy_(AtenTensorHandle target, AtenTensorHandle source, int32_t non_blocking);

/* Of a model's library. */
typedef struct AOTInductorModelContainerOpaque *AOTInductorModelContainerHandle;

struct AOTInductorConstantMapEntry {
    const char *name;
    AtenTensorHandle handle;
};

typedef int32_t (*AOTInductorModelContainerCreateWithDevice)(AOTInductorModelContainerHandle *out, size_t models, const char *device,
                                                             const char *cubins);
typedef int32_t (*AOTInductorModelContainerDelete)(AOTInductorModelContainerHandle container);
/* Takes the inputs; the outputs are the caller's to delete. */
typedef int32_t (*AOTInductorModelContainerRun)(AOTInductorModelContainerHandle container, AtenTensorHandle *inputs, size_t input_count,
                                                AtenTensorHandle *outputs, size_t output_count, void *stream, void *proxy_executor);
/* Of inputs, outputs and constants; also the byte size of all constants. */
typedef int32_t (*AOTInductorModelContainerGetCount)(AOTInductorModelContainerHandle container, size_t *out);
typedef int32_t (*AOTInductorModelContainerGetConstantName)(AOTInductorModelContainerHandle container, size_t index, const char **out);
/* Of a constant: its type's number, or its size in bytes in memory of size_t. */
typedef int32_t (*AOTInductorModelContainerGetConstantDtype)(AOTInductorModelContainerHandle container, size_t index, int32_t *out);
typedef int32_t (*AOTInductorModelContainerGetConstantDataSize)(AOTInductorModelContainerHandle container, size_t index, size_t *out);
/* The constants, in the order and with the padding that the library knows; the memory stays the caller's, who keeps it. */
typedef int32_t (*AOTInductorModelUpdateConstantsFromBlob)(AOTInductorModelContainerHandle container, const uint8_t *blob);
typedef int32_t (*AOTInductorModelContainerUpdateUserManagedConstantBufferPairs)(AOTInductorModelContainerHandle container,
                                                                                 const struct AOTInductorConstantMapEntry *pairs,
                                                                                 size_t count, _Bool use_inactive, _Bool validate_full_update);
/* How inputs and outputs are nested, as JSON. */
typedef int32_t (*AOTInductorModelContainerGetCallSpec)(AOTInductorModelContainerHandle container, const char **inputs, const char **outputs);
/* What the last call of this thread failed of. */
typedef int32_t (*AOTInductorGetLastError)(const char **out);

#endif
