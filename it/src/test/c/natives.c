/*
 * Tries what a distribution has of our own native code, on the machine that it is for: natives FOLDER loads the libraries
 * from there and says what they do. DistributionAarch64IT builds and runs it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4, COPIED = 1 << 20 };

static void *library(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *found = dlopen(path, RTLD_NOW);
    if (found == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return found;
}

static volatile sig_atomic_t passed_on;
static char *unguarded;
static size_t page;

/* What was there before the guard: it gets the faults that are not the guard's, and mends them for this test. */
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    (void)context;
    passed_on++;
    mmap(unguarded, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static char *mapped(int *file) {
    *file = memfd_create("natives", 0);
    if (ftruncate(*file, PAGES * page) != 0) {
        exit(1);
    }
    char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    memset(memory, 7, PAGES * page);
    return memory;
}

static void try_guard(void *guard) {
    int (*install)(void) = (int (*)(void))symbol(guard, "gatun_guard_install");
    int *(*protect)(void *, size_t, int) = (int *(*)(void *, size_t, int))symbol(guard, "gatun_guard_protect");
    void (*release)(int *) = (void (*)(int *))symbol(guard, "gatun_guard_release");
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    int file;
    char *region = mapped(&file);
    int other;
    unguarded = mapped(&other);
    if (install() != 0) {
        printf("the guard was not installed\n");
        exit(1);
    }
    int *broken = protect(region, PAGES * page, PROT_READ | PROT_WRITE);
    printf("whole: %d, broken %d\n", ((volatile char *)region)[2 * page], *broken);
    if (ftruncate(file, page) != 0 || ftruncate(other, 0) != 0) {
        exit(1);
    }
    printf("truncated: %d, %d, broken %d\n", ((volatile char *)region)[0], ((volatile char *)region)[2 * page], *broken);
    release(broken);
    printf("of others: %d, passed on %d\n", ((volatile char *)unguarded)[0], (int)passed_on);
}

static void try_copy(void *copy) {
    void (*streaming)(void *, const void *, size_t) = (void (*)(void *, const void *, size_t))symbol(copy, "gatun_copy_streaming");
    char *from = malloc(COPIED + 3);
    char *to = calloc(1, COPIED + 3);
    for (int i = 0; i < COPIED; i++) {
        from[i + 1] = (char)(i * 31);
    }
    streaming(to + 2, from + 1, COPIED);
    printf("copied: %d\n", memcmp(to + 2, from + 1, COPIED) == 0 && to[1] == 0 && to[COPIED + 2] == 0);
}

int main(int count, char **arguments) {
    if (count != 2) {
        return 2;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    page = (size_t)sysconf(_SC_PAGESIZE);
    try_guard(library(arguments[1], "libgatun-guard.so"));
    try_copy(library(arguments[1], "libgatun-copy.so"));
    return 0;
}
