// SPDX-License-Identifier: Apache-2.0
// A library with the operator gatun.test.PlusOne, which adds 1 to each 32-bit floating point number. It is written against the
// slots of ONNX Runtime's function table, so that no header of the engine is needed.
#include <stddef.h>
#include <stdint.h>

typedef void *Status;
typedef const void *const *Table;

#define CALL(slot, ...) ((Status(*)())api[slot])(__VA_ARGS__)
enum {
    CREATE_CUSTOM_OP_DOMAIN = 26,
    CUSTOM_OP_DOMAIN_ADD = 27,
    ADD_CUSTOM_OP_DOMAIN = 28,
    GET_TENSOR_MUTABLE_DATA = 51,
    GET_DIMENSIONS_COUNT = 61,
    GET_DIMENSIONS = 62,
    GET_TENSOR_TYPE_AND_SHAPE = 65,
    KERNEL_CONTEXT_GET_INPUT = 90,
    KERNEL_CONTEXT_GET_OUTPUT = 91,
    RELEASE_TENSOR_TYPE_AND_SHAPE_INFO = 99
};
enum { FLOAT = 1, REQUIRED = 0, MAX_RANK = 8 };

// The layout that version 8 of the API has.
struct Operator {
    uint32_t version;
    void *(*create)(const struct Operator *op, Table api, const void *info);
    const char *(*name)(const struct Operator *op);
    const char *(*provider)(const struct Operator *op);
    int (*input_type)(const struct Operator *op, size_t index);
    size_t (*input_count)(const struct Operator *op);
    int (*output_type)(const struct Operator *op, size_t index);
    size_t (*output_count)(const struct Operator *op);
    void (*compute)(void *kernel, void *context);
    void (*destroy)(void *kernel);
    int (*input_kind)(const struct Operator *op, size_t index);
    int (*output_kind)(const struct Operator *op, size_t index);
};

static void *create(const struct Operator *op, Table api, const void *info) { return (void *)api; }
static const char *name(const struct Operator *op) { return "PlusOne"; }
static const char *provider(const struct Operator *op) { return NULL; }
static int type(const struct Operator *op, size_t index) { return FLOAT; }
static size_t one(const struct Operator *op) { return 1; }
static int kind(const struct Operator *op, size_t index) { return REQUIRED; }
static void destroy(void *kernel) {}

static void compute(void *kernel, void *context) {
    Table api = kernel;
    const void *input = NULL;
    void *info = NULL, *output = NULL, *from = NULL, *to = NULL;
    size_t rank = 0, count = 1;
    int64_t dims[MAX_RANK];
    CALL(KERNEL_CONTEXT_GET_INPUT, context, (size_t)0, &input);
    CALL(GET_TENSOR_TYPE_AND_SHAPE, input, &info);
    CALL(GET_DIMENSIONS_COUNT, info, &rank);
    CALL(GET_DIMENSIONS, info, dims, rank);
    ((void (*)(void *))api[RELEASE_TENSOR_TYPE_AND_SHAPE_INFO])(info);
    CALL(KERNEL_CONTEXT_GET_OUTPUT, context, (size_t)0, dims, rank, &output);
    CALL(GET_TENSOR_MUTABLE_DATA, input, &from);
    CALL(GET_TENSOR_MUTABLE_DATA, output, &to);
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    for (size_t i = 0; i < count; i++)
        ((float *)to)[i] = ((const float *)from)[i] + 1;
}

static const struct Operator plus_one = {8, create, name, provider, type, one, type, one, compute, destroy, kind, kind};

struct ApiBase {
    Table (*get)(uint32_t version);
    const char *(*version)(void);
};

// Called for each session; the domain lives as long as the library.
Status RegisterCustomOps(void *options, const struct ApiBase *base) {
    static void *domain;
    Table api = base->get(8);
    if (!domain) {
        Status failed = CALL(CREATE_CUSTOM_OP_DOMAIN, "gatun.test", &domain);
        if (!failed)
            failed = CALL(CUSTOM_OP_DOMAIN_ADD, domain, &plus_one);
        if (failed)
            return failed;
    }
    return CALL(ADD_CUSTOM_OP_DOMAIN, options, domain);
}
