/*
 * Fault guard: keeps the process alive when a client truncates a shared object that is mapped here.
 *
 * A read or write past the new end of such an object raises SIGBUS. Inside a native engine that would end the process.
 * The handler below looks the address up in a table of guarded regions, marks the region broken, puts zero pages over
 * the rest of it and lets the instruction run again. Every other SIGBUS goes on to the handler that was there before,
 * which is the JVM's.
 *
 * The handler can interrupt any thread anywhere: it takes no lock, allocates nothing, and calls only mmap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { CAPACITY = 4096 };

/* FREE -> CLAIMED -> GUARDED -> RETIRED -> FREE; GUARDED is the only state in which the handler reads the rest. */
enum state { FREE, CLAIMED, GUARDED, RETIRED };

struct region {
    _Atomic int broken; /* read by Java, so the first field: its address stands for the region */
    _Atomic int state;
    _Atomic int handlers; /* how many handlers are inside this region now */
    int protection;
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end; /* of the last page */
};

static struct region table[CAPACITY];
static _Atomic int used; /* no slot from here on was ever claimed */
static _Atomic int installed; /* 0 no, 1 being done, 2 yes */
static struct sigaction previous;
static uintptr_t page_size;

static int holds(struct region *region, uintptr_t address) {
    return atomic_load(&region->state) == GUARDED && address >= atomic_load(&region->begin) &&
           address < atomic_load(&region->end);
}

/* Whether the fault was in this region and is mended. */
static int mend(struct region *region, uintptr_t address) {
    int mended = 0;
    /* Once counted in, and still GUARDED after that, the region stays mapped until we count out: see release. */
    atomic_fetch_add(&region->handlers, 1);
    if (holds(region, address)) {
        uintptr_t page = address & ~(page_size - 1);
        atomic_store(&region->broken, 1); /* first, so that nobody sees a zero without the mark */
        mended = mmap((void *)page, atomic_load(&region->end) - page, region->protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    }
    atomic_fetch_sub(&region->handlers, 1);
    return mended;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        /* Nobody else cares: the instruction runs again and the default action ends the process. */
        signal(number, SIG_DFL);
    }
}

static void on_fault(int number, siginfo_t *info, void *context) {
    int saved = errno;
    if (info->si_code == BUS_ADRERR) {
        uintptr_t address = (uintptr_t)info->si_addr;
        int count = atomic_load(&used);
        for (int i = 0; i < count; i++) {
            if (holds(&table[i], address) && mend(&table[i], address)) {
                errno = saved;
                return;
            }
        }
    }
    errno = saved;
    pass_on(number, info, context);
}

/* Puts the handler in front of the present one, once however often it is called. 0, or an errno. */
EXPORT int gatun_guard_install(void) {
    struct sigaction action;
    int expected = 0;
    while (!atomic_compare_exchange_weak(&installed, &expected, 1)) {
        if (expected == 2) {
            return 0;
        }
        expected = 0;
        sched_yield();
    }
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &previous) == 0) {
        /* The same stack, mask and restart behaviour as the handler that we stand in front of expects. */
        action = previous;
        action.sa_sigaction = on_fault;
        action.sa_flags |= SA_SIGINFO;
        if (sigaction(SIGBUS, &action, NULL) == 0) {
            atomic_store(&installed, 2);
            return 0;
        }
    }
    int error = errno;
    atomic_store(&installed, 0);
    return error;
}

/*
 * Guards byte_size bytes, mapped from a page boundary on with this protection. The result stands for the region and
 * points to a word that becomes 1 when the region breaks; NULL when the table is full.
 */
EXPORT _Atomic int *gatun_guard_protect(void *address, size_t byte_size, int protection) {
    for (int i = 0; i < CAPACITY; i++) {
        struct region *region = &table[i];
        int expected = FREE;
        if (atomic_compare_exchange_strong(&region->state, &expected, CLAIMED)) {
            uintptr_t begin = (uintptr_t)address;
            int count = atomic_load(&used);
            while (count <= i && !atomic_compare_exchange_weak(&used, &count, i + 1)) {
            }
            atomic_store(&region->broken, 0);
            region->protection = protection;
            atomic_store(&region->begin, begin);
            atomic_store(&region->end, (begin + byte_size + page_size - 1) & ~(page_size - 1));
            atomic_store(&region->state, GUARDED);
            return &region->broken;
        }
    }
    return NULL;
}

/*
 * Ends the guard. Afterwards no handler touches the region, so that its addresses may be unmapped and used anew. Faults
 * in it that are still to come are no longer mended: nobody may be using it.
 */
EXPORT void gatun_guard_release(_Atomic int *handle) {
    struct region *region = (struct region *)handle;
    atomic_store(&region->state, RETIRED);
    while (atomic_load(&region->handlers) != 0) {
        sched_yield();
    }
    atomic_store(&region->state, FREE);
}

/* How many regions there is room for. */
EXPORT int gatun_guard_capacity(void) { return CAPACITY; }
