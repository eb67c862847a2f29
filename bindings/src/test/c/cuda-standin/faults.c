/* What tests control and read: failures on demand, a delay of all streams, and counts of what is held. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

enum { MAX_FAULTS = 32, NAME_LENGTH = 64 };

static struct fault {
    char function[NAME_LENGTH]; /* without its version */
    int device;                 /* NO_DEVICE: all of them */
    CUresult result;
    long after; /* calls until it strikes; 0 for every call */
    bool armed;
} faults[MAX_FAULTS];

static int64_t own_counts[COUNTERS];
static int64_t *counts = own_counts;
static long delay; /* of what is queued now; -1: held back */
static uint64_t released; /* the serial of the newest work that was let go */

static const char *const counter_names[COUNTERS] = {
    [ALLOCATIONS] = "allocations", /* of device memory, and not given back */
    [HOST] = "host",               /* ranges of pinned memory: allocated or registered */
    [MAPPINGS] = "mappings",       /* of other processes' device memory */
    [STREAMS] = "streams",
    [EVENTS] = "events",
    [MODULES] = "modules",
    [CONTEXTS] = "contexts", /* how often primary contexts are retained */
    [COPIES] = "copies",     /* so far, of either direction; a memset is none */
    [COPIED_BYTES] = "copied_bytes",
    [PAGEABLE] = "pageable", /* copies so far from or to host memory that is not pinned */
    [LAUNCHES] = "launches", /* of kernels, so far */
};

/* "cuMemAlloc_v2" -> "cuMemAlloc" */
static void base_name(const char *function, size_t length, char *name) {
    size_t end = length;
    while (end > 0 && function[end - 1] >= '0' && function[end - 1] <= '9') {
        end--;
    }
    if (end < length && end > 2 && function[end - 1] == 'v' && function[end - 2] == '_') {
        length = end - 2;
    }
    memcpy(name, function, length);
    name[length] = 0;
}

/* Whether this library exports it, so that a misspelt name in a test is noticed. */
static bool is_exported(const char *name) {
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)gatun_standin_fail, &self)) {
        return false;
    }
    void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) {
        return false;
    }
    char versioned[NAME_LENGTH + 4];
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    bool found = dlsym(library, name) != NULL || dlsym(library, versioned) != NULL;
    dlclose(library);
    return found;
}

static int arm(const char *function, int result, int after) {
    const char *at = strchr(function, '@');
    size_t length = at == NULL ? strlen(function) : (size_t)(at - function);
    char name[NAME_LENGTH];
    if (length == 0 || length >= sizeof name || after < 0) {
        return -1;
    }
    base_name(function, length, name);
    if (strncmp(name, "cu", 2) != 0 || !is_exported(name)) {
        return -1;
    }
    for (int i = 0; i < MAX_FAULTS; i++) {
        if (!faults[i].armed) {
            faults[i] = (struct fault){.device = at == NULL ? NO_DEVICE : atoi(at + 1),
                                       .result = (CUresult)result,
                                       .after = after,
                                       .armed = true};
            memcpy(faults[i].function, name, sizeof name);
            return 0;
        }
    }
    return -1;
}

int gatun_standin_fail(const char *function, int result, int after) {
    pthread_mutex_lock(&standin_lock);
    int armed = function == NULL ? -1 : arm(function, result, after);
    pthread_mutex_unlock(&standin_lock);
    return armed;
}

/* GATUN_STANDIN_FAIL is "function:result:after", several with commas between them. */
static void arm_all(const char *list) {
    char *copy = must(strdup(list));
    char *rest = copy;
    for (char *entry; (entry = strtok_r(rest, ",", &rest)) != NULL;) {
        char function[NAME_LENGTH];
        int result;
        int after;
        if (sscanf(entry, "%63[^:]:%d:%d", function, &result, &after) != 3 || arm(function, result, after) != 0) {
            fprintf(stderr, "stand-in for CUDA: GATUN_STANDIN_FAIL has '%s', expected function:result:after\n", entry);
            abort();
        }
    }
    free(copy);
}

/* The counts live in a file then, where another process can read them: 64-bit numbers in the order of enum counter. */
static void share_counts(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof own_counts) == 0) {
        mapped = mmap(NULL, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (mapped == MAP_FAILED) {
        fprintf(stderr, "stand-in for CUDA: cannot write GATUN_STANDIN_COUNTS '%s'\n", path);
        abort();
    }
    close(file);
    counts = mapped;
}

void arm_from_environment(void) {
    const char *list = getenv("GATUN_STANDIN_FAIL");
    const char *file = getenv("GATUN_STANDIN_COUNTS");
    const char *micros = getenv("GATUN_STANDIN_DELAY_MICROS");
    if (list != NULL) {
        arm_all(list);
    }
    if (file != NULL) {
        share_counts(file);
    }
    if (micros != NULL) {
        delay = atol(micros);
    }
}

CUresult injected(const char *function, struct context *context) {
    char name[NAME_LENGTH];
    base_name(function, strlen(function), name);
    for (int i = 0; i < MAX_FAULTS; i++) {
        struct fault *fault = &faults[i];
        if (!fault->armed || strcmp(fault->function, name) != 0 ||
            (fault->device != NO_DEVICE && (context == NULL || context->device != fault->device))) {
            continue;
        }
        if (fault->after > 1) {
            fault->after--;
            continue;
        }
        fault->armed = fault->after == 0;
        if (context != NULL && is_sticky(fault->result)) {
            context->failure = fault->result;
        }
        return fault->result;
    }
    return CUDA_SUCCESS;
}

void count(enum counter counter, long change) {
    __atomic_add_fetch(&counts[counter], change, __ATOMIC_RELAXED);
}

long gatun_standin_count(const char *what) {
    for (int i = 0; what != NULL && i < COUNTERS; i++) {
        if (strcmp(counter_names[i], what) == 0) {
            return __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
        }
    }
    return -1;
}

long delay_micros(void) {
    return delay;
}

bool is_released(uint64_t serial) {
    return serial <= released;
}

static void release(void) {
    released = newest_serial();
    pthread_cond_broadcast(&standin_progress);
}

void gatun_standin_delay(long micros) {
    pthread_mutex_lock(&standin_lock);
    delay = micros < 0 ? -1 : micros;
    pthread_mutex_unlock(&standin_lock);
}

void gatun_standin_release(void) {
    pthread_mutex_lock(&standin_lock);
    release();
    pthread_mutex_unlock(&standin_lock);
}

void gatun_standin_reset(void) {
    pthread_mutex_lock(&standin_lock);
    memset(faults, 0, sizeof faults);
    delay = 0;
    release();
    await_everything();
    for (int device = 0; device < MAX_DEVICES; device++) {
        context_of(device)->failure = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&standin_lock);
}
