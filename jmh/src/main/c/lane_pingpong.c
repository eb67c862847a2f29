/* SPDX-License-Identifier: Apache-2.0
 *
 * The baseline and the client of `jmh/run lane`. Prints the median and the 99th percentile of round trips in
 * microseconds, and for requests in flight how many are answered in a second.
 *
 *   lane_pingpong bare SPIN COUNT [CORE]   two processes and two futex words, and nothing else
 *   lane_pingpong lane SPIN COUNT SOCKET [FLIGHT]   inferences of `simple` in a lane, by gatun_lane.h, so many at a time
 *
 * SPIN is 1 to look for the other without sleeping, or 0 to sleep at once; CORE pins both processes to one core.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define GATUN_SLOTS 16
#include "gatun_lane.h"

enum { WARM_UP = 2000, FOREVER = 1000000000 };

static uint32_t *words;

static double micros(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec * 1e6 + (double) time.tv_nsec * 1e-3;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *) one;
    double b = *(const double *) other;
    return (a > b) - (a < b);
}

static void report(double *samples, int count, double seconds) {
    qsort(samples, (size_t) count, sizeof *samples, ascending);
    printf("%.2f %.2f", samples[count / 2], samples[(int) (count * 0.99)]);
    if (seconds > 0) {
        printf(" %.0f", count / seconds);
    }
    printf("\n");
}

static void await(uint32_t *word, uint32_t expected, int spin) {
    uint32_t seen;
    while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != expected) {
        if (!spin) {
            gatun_futex(word, FUTEX_WAIT, seen, NULL);
        }
    }
}

static void tell(uint32_t *word, uint32_t value, int spin) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    if (!spin) {
        gatun_futex(word, FUTEX_WAKE, 1, NULL);
    }
}

static void bare(int spin, int count, double *samples) {
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t i = 1;; i++) {
            await(&words[0], i, spin);
            tell(&words[64], i, spin);
        }
    }
    for (int i = 1; i <= WARM_UP + count; i++) {
        double begin = micros();
        tell(&words[0], (uint32_t) i, spin);
        await(&words[64], (uint32_t) i, spin);
        if (i > WARM_UP) {
            samples[i - WARM_UP - 1] = micros() - begin;
        }
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

static void fill(struct gatun_lane *lane, int slot, uint32_t simple) {
    struct gatun_slot *request = gatun_slot(lane, slot);
    request->prepared = simple;
    for (int i = 0; i < 4; i++) {
        request->tensors[i] = (struct gatun_tensor) {
                .rank = 2, .dims = {1, 16}, .offset = 256u * (unsigned) slot + 64u * (unsigned) i, .byte_size = 64};
    }
}

static int in_lane(int spin, int count, double *samples, const char *socket, int flight, double *seconds) {
    struct gatun_lane lane;
    uint32_t simple;
    int refused = gatun_lane_open(&lane, socket, 4096);
    if (refused == 0) {
        refused = gatun_lane_prepare(
                &lane,
                "simple",
                "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"},{\"name\":\"INPUT1\",\"datatype\":\"INT32\"}],"
                "\"outputs\":[{\"name\":\"OUTPUT0\"},{\"name\":\"OUTPUT1\"}]}",
                &simple);
    }
    double begins[GATUN_SLOTS];
    double begin = 0;
    for (int i = -WARM_UP; refused == 0 && i < count + flight; i++) {
        int slot = (i + WARM_UP) % flight;
        if (i >= flight - WARM_UP) {
            refused = gatun_lane_wait(&lane, slot, spin ? FOREVER : 0) < 0 ? -1 : gatun_lane_failed(&lane, slot);
            if (i >= flight) {
                samples[i - flight] = micros() - begins[slot];
            }
        }
        if (i < count) {
            begins[slot] = micros();
            begin = i == 0 ? begins[slot] : begin;
            fill(&lane, slot, simple);
            gatun_lane_submit(&lane, slot, GATUN_INFER);
        }
    }
    *seconds = (micros() - begin) * 1e-6;
    if (refused != 0) {
        fprintf(stderr, "%s\n", lane.error);
    }
    gatun_lane_close(&lane);
    return refused;
}

int main(int words_count, char **arguments) {
    if (words_count < 4) {
        fprintf(stderr, "usage: lane_pingpong bare SPIN COUNT [CORE] | lane SPIN COUNT SOCKET [FLIGHT]\n");
        return 2;
    }
    int spin = atoi(arguments[2]);
    int count = atoi(arguments[3]);
    double *samples = calloc((size_t) count, sizeof *samples);
    double seconds = 0;
    if (strcmp(arguments[1], "lane") == 0) {
        int flight = words_count > 5 ? atoi(arguments[5]) : 1;
        if (words_count < 5 || flight < 1 || flight > GATUN_SLOTS
                || in_lane(spin, count, samples, arguments[4], flight, &seconds) != 0) {
            return 1;
        }
    } else {
        if (words_count > 4) {
            cpu_set_t cores;
            CPU_ZERO(&cores);
            CPU_SET(atoi(arguments[4]), &cores);
            sched_setaffinity(0, sizeof cores, &cores);
        }
        bare(spin, count, samples);
    }
    report(samples, count, seconds);
    free(samples);
    return 0;
}
