/*
 * The stand-in's own types and the functions that its files share. Everything here is guarded by one lock, which enter
 * takes and leave gives back; only the workers of streams let go of it, while they copy or compute.
 */
#ifndef GATUN_STANDIN_H
#define GATUN_STANDIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's functions are all that the library exports, beside the controls below. */
#pragma GCC visibility push(default)
#ifdef GATUN_STANDIN_CUDA_H
#include <cuda.h>
#else
#include "cuda_driver.h"
#endif

/*
 * The call number `after` of that function from now on returns the result and does nothing; 0 is every call until the
 * reset. "cuMemAlloc" and "cuMemAlloc_v2" are the same, "cuLaunchKernel@1" counts calls on device 1 only. A sticky
 * result stays for the device, as if its hardware had reported it. 0, or -1 for a function that is not here.
 */
int gatun_standin_fail(const char *function, int result, int after);
/* How many of these there are in this process: see the names in faults.c. -1 for a name that is not known. */
long gatun_standin_count(const char *what);
/* Work that is queued from now on begins so many microseconds late; with -1, only after the release. */
void gatun_standin_delay(long micros);
/* Lets go all work that is held back. What is queued later is held back again, until the delay is another one. */
void gatun_standin_release(void);
/* Forgets armed failures, the errors of devices and the delay, lets all work go. What was allocated stays. */
void gatun_standin_reset(void);
#pragma GCC visibility pop

enum { MAX_DEVICES = 8, NO_DEVICE = -1, MAX_GRID_YZ = 65535, MAX_THREADS = 1024, MAX_BLOCK_Z = 64 };
/* Of shared memory: what each launch may have, and what one may that asked for it. */
enum { SHARED_BYTES = 48 << 10, SHARED_BYTES_ON_REQUEST = 96 << 10 };

/* The order is that of the counts in the file that GATUN_STANDIN_COUNTS names. */
enum counter {
    ALLOCATIONS,
    HOST,
    MAPPINGS,
    STREAMS,
    EVENTS,
    MODULES,
    CONTEXTS,
    COPIES,
    COPIED_BYTES,
    PAGEABLE,
    LAUNCHES,
    COUNTERS
};

struct stream;
struct work;

struct context {
    uint64_t handle; /* 0 while the context is not active; another one each time it becomes active */
    int device;
    unsigned int flags;
    unsigned int retained;
    CUresult failure; /* the sticky error, or CUDA_SUCCESS */
    size_t used;      /* bytes of the device's memory */
    bool peers[MAX_DEVICES];
    struct stream *null_stream;
};

enum kind { DEVICE_MEMORY, POOL_MEMORY, IMPORTED_MEMORY, HOST_ALLOCATED, HOST_REGISTERED };

struct allocation {
    struct allocation *next;
    enum kind kind;
    struct context *context;
    uint64_t address; /* of a device: no thread can touch what is there */
    size_t size;
    unsigned char *view; /* the same bytes, for copies and kernels */
    int descriptor;
    uint64_t identity; /* what tells one memory object from all others */
    unsigned int references; /* 1 while it is listed, 1 for each piece of work that uses it */
    unsigned int opened;     /* how often it was imported */
};

/* What one stream does: a link of its queue. */
struct work {
    struct work *next;
    unsigned int references;
    bool done;
    int64_t finished_nanos;
    uint64_t serial;
    long delay_micros; /* -1: until the release */
    CUresult (*run)(void *payload); /* without the lock; NULL for a mark in the queue */
    void *payload;                  /* owned */
    struct allocation *uses[2];
    struct work **waits_for;
    int waits;
};

struct stream {
    struct stream *next;
    uint64_t handle; /* 0 for the null stream */
    struct context *context;
    bool blocking; /* waits for the null stream, and that waits for it */
    bool destroyed;
    bool started;
    struct work *first; /* being done, or the next */
    struct work *last;
    pthread_cond_t arrived;
};

/* Where the bytes of one side of a copy are. */
struct place {
    unsigned char *bytes;
    struct allocation *allocation; /* NULL for host memory that CUDA does not know */
};

/* device.c */
void start_library(void);
int device_count(void);
struct context *context_of(int device);
bool peers_possible(void);
size_t total_memory(void);
void *must(void *allocated);
uint64_t new_handle(void);

/* context.c */
/* Takes the lock for a call that needs no context. The lock is held only after CUDA_SUCCESS. */
CUresult enter_library(const char *function, int device);
void leave_library(void);
/* Takes the lock for a call in the current context. The lock is held only after CUDA_SUCCESS. */
CUresult enter(const char *function, struct context **current);
/* The same for a call that gives something back, which a failed device does not refuse. */
CUresult enter_to_release(const char *function, struct context **current);
/* Gives the lock back; the result, or the sticky error of the context. */
CUresult leave(struct context *context, CUresult result);

/* errors.c, faults.c */
bool is_sticky(CUresult result);
CUresult injected(const char *function, struct context *context);
void arm_from_environment(void);
void count(enum counter counter, long change);
long delay_micros(void);
/* Whether work with this serial may go, though it was held back. */
bool is_released(uint64_t serial);

/* memory.c */
struct allocation *find_allocation(uint64_t address, size_t size);
struct allocation *map_object(struct context *context, enum kind kind, int descriptor, size_t size);
void list_allocation(struct allocation *allocation);
void unlist_allocation(struct allocation *allocation);
void release_allocation(struct allocation *allocation);
struct allocation *imported(struct context *context, uint64_t identity);
bool accessible(struct context *context, struct allocation *allocation);
bool in_device_range(uint64_t address, size_t size);
CUresult device_place(uint64_t address, size_t size, struct place *place);
CUresult host_place(const void *pointer, size_t size, struct place *place);
int new_object(const char *name, size_t size);
uint64_t object_identity(int descriptor);
void free_memory_of(struct context *context);

/* stream.c */
struct stream *find_stream(CUstream handle, struct context *current);
struct work *new_work(CUresult (*run)(void *payload), void *payload);
void use(struct work *work, struct allocation *allocation);
void wait_for_work(struct work *work, struct work *other);
void submit(struct stream *stream, struct work *work);
void release_work(struct work *work);
void await(struct work *work);
uint64_t newest_serial(void);
void await_context(struct context *context);
void await_everything(void);
void free_streams_of(struct context *context);
extern pthread_mutex_t standin_lock;
extern pthread_cond_t standin_progress; /* some work is done */

/* event.c, ipc.c */
/* What two processes see of an event. */
struct shared_event {
    _Atomic uint32_t recorded;
    _Atomic uint32_t completed;
    int32_t owner;
};
struct event {
    struct event *next;
    uint64_t handle;
    struct context *context;
    unsigned int flags;
    struct work *recorded;       /* the last record, or NULL */
    struct shared_event *shared; /* of an event for several processes, else NULL */
    int descriptor;
    bool imported;
};
struct event *find_event(CUevent handle);
struct event *new_event(struct context *context, unsigned int flags);
void free_events_of(struct context *context);

/* module.c, kernels.c */
union argument {
    uint64_t address;
    int32_t number;
    int64_t large;
};
enum { MAX_ARGUMENTS = 8 };
struct launch {
    struct context *context;
    unsigned int grid[3];
    unsigned int block[3];
    union argument arguments[MAX_ARGUMENTS];
    struct allocation *pinned[MAX_ARGUMENTS];
    int pinned_count;
    CUresult fault;
};
struct kernel {
    const char *name;
    const char *parameters; /* one letter each: p an address, i 32 bits, l 64 bits */
    CUresult (*run)(struct launch *launch);
};
struct function {
    struct function *next;
    uint64_t handle;
    const struct kernel *kernel; /* NULL for one that the stand-in does not know */
    char *name;
    unsigned int shared_bytes; /* at most, of a launch */
};
struct module {
    struct module *next;
    uint64_t handle;
    struct context *context;
    char **names; /* of its kernels, NULL at the end; NULL for an image that cannot be read */
    struct function *functions;
};
const struct kernel *find_kernel(const char *name);
struct function *find_function(CUfunction handle, struct module **module);
void free_modules_of(struct context *context);
/* The names of the kernels in an image; or what is wrong with it, in words. */
CUresult read_image(const void *image, char ***names, const char **fault);

#endif
