/* SPDX-License-Identifier: Apache-2.0
 *
 * A client of Gatun's lanes: inference in memory that it shares with a server on the same machine, without a socket. One
 * header, for Linux and a C11 compiler; define _GNU_SOURCE before the first include. camera.c shows its use.
 *
 * The server runs as the same user, with --allow-client-shm and --http-unix-socket=PATH. Functions return 0, or a number
 * other than 0 after which lane->error is a text. One thread uses a lane at a time; a process may have several.
 */
#ifndef GATUN_LANE_H
#define GATUN_LANE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum gatun_datatype {
    GATUN_BOOL = 1,
    GATUN_UINT8,
    GATUN_UINT16,
    GATUN_UINT32,
    GATUN_UINT64,
    GATUN_INT8,
    GATUN_INT16,
    GATUN_INT32,
    GATUN_INT64,
    GATUN_FP16,
    GATUN_BF16,
    GATUN_FP32,
    GATUN_FP64,
    GATUN_BYTES,
    GATUN_COMPLEX64,
    GATUN_COMPLEX128,
    GATUN_QINT8,
    GATUN_QUINT8,
    GATUN_QINT16,
    GATUN_QUINT16,
    GATUN_QINT32,
    GATUN_INT4,
    GATUN_UINT4,
    GATUN_FP8_E5M2,
    GATUN_FP8_E4M3FN
};

enum { GATUN_MAX_RANK = 8 };

/* A tensor of a slot: the client fills the first five fields (of an output: region, offset and byte_size), the server the
 * others of an output. rank is -1 where an answer does not have the output. */
struct gatun_tensor {
    uint32_t region; /* 0: the lane's data */
    int32_t rank;
    uint64_t offset;
    uint64_t byte_size;
    int64_t dims[GATUN_MAX_RANK];
    uint64_t written_bytes;
    uint32_t datatype;
    uint32_t reserved[7];
};

/* What the server and the client share of a request; see SlotLayout in the Java sources. */
struct gatun_slot {
    uint32_t state;
    uint32_t client_asleep;
    uint8_t pad0[56];
    uint32_t prepared;
    uint32_t flags;
    uint64_t sequence;
    uint64_t deadline; /* CLOCK_MONOTONIC in nanoseconds; 0 for none */
    uint32_t id_bytes;
    uint32_t sequence_bytes;
    uint32_t caller_core; /* the core that is handed over while the caller waits, from 1; 0 for none */
    uint8_t pad1[28];
    uint32_t code; /* 0, or gRPC's number of an error */
    uint32_t outputs;
    uint64_t version;
    uint64_t server_nanos;
    uint64_t engine_nanos;
    uint32_t answer_bytes;
    uint8_t pad2[28];
    char request_text[256];
    char answer_text[832];
    struct gatun_tensor tensors[];
};

_Static_assert(sizeof(struct gatun_tensor) == 128, "a tensor has 128 bytes");
_Static_assert(sizeof(struct gatun_slot) == 1280, "the tensors begin at 1280");

enum { GATUN_FREE, GATUN_FILLED, GATUN_DONE, GATUN_MORE };
enum { GATUN_INFER = 1, GATUN_CONTINUE, GATUN_CANCEL };
enum { GATUN_SEQUENCE_START = 1, GATUN_SEQUENCE_END = 2, GATUN_SEQUENCE_TEXT = 4 };

/* How many requests may be under way at a time: 4, or another power of two up to 256, said before this is included. */
#ifndef GATUN_SLOTS
#define GATUN_SLOTS 4
#endif

enum {
    GATUN_PAGE = 4096,
    GATUN_TENSORS = 16,
    GATUN_SERVER_BELL = 1024,
    GATUN_SERVER_ASLEEP = 1152,
    GATUN_SLOT_BYTES = 1280 + GATUN_TENSORS * 128,
    GATUN_SLOTS_AT = GATUN_PAGE + 16 * GATUN_SLOTS,
    GATUN_DATA_AT = (GATUN_SLOTS_AT + GATUN_SLOTS * GATUN_SLOT_BYTES + GATUN_PAGE - 1) / GATUN_PAGE * GATUN_PAGE
};

_Static_assert(GATUN_SLOTS >= 4 && GATUN_SLOTS <= 256 && (GATUN_SLOTS & (GATUN_SLOTS - 1)) == 0, "slots of a lane");

struct gatun_lane {
    int socket;
    uint8_t *memory;
    size_t byte_size;
    uint8_t *data; /* room for tensors, which the caller divides; keep each at a multiple of 64 bytes */
    size_t data_bytes;
    uint32_t position;
    uint32_t turns[GATUN_SLOTS];
    int spins; /* whether the last wait did */
    int under_way; /* requests */
    int hands_over; /* whether waits hand the core over, and what was learned of that */
    int waits;
    int rest;
    int64_t mean_nanos;
    int64_t mean_of_sleeps;
    char name[64];
    char error[1024];
};

static inline int gatun_fail(struct gatun_lane *lane, const char *what) {
    snprintf(lane->error, sizeof lane->error, "%s: %s", what, strerror(errno));
    return -1;
}

/* Posts JSON over the lane's connection and keeps the answer's body in `answer`. Returns 0, or HTTP's status. */
static inline int gatun_post(
        struct gatun_lane *lane, const char *path, const char *body, char *answer, size_t answer_bytes) {
    char head[512];
    int head_bytes = snprintf(
            head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", path, strlen(body));
    if (head_bytes < 0 || (size_t) head_bytes >= sizeof head) {
        errno = ENAMETOOLONG;
        return gatun_fail(lane, "the path of a request");
    }
    if (send(lane->socket, head, (size_t) head_bytes, MSG_NOSIGNAL) != head_bytes
            || send(lane->socket, body, strlen(body), MSG_NOSIGNAL) != (ssize_t) strlen(body)) {
        return gatun_fail(lane, "cannot send to the server");
    }
    char text[8192];
    size_t count = 0;
    char *content = NULL;
    size_t length = 0;
    while (content == NULL || count < (size_t) (content - text) + length) {
        ssize_t got = count < sizeof text - 1 ? recv(lane->socket, text + count, sizeof text - 1 - count, 0) : 0;
        if (got <= 0) {
            errno = got < 0 ? errno : ECONNRESET;
            return gatun_fail(lane, "no whole answer of the server");
        }
        count += (size_t) got;
        text[count] = 0;
        char *end = content == NULL ? strstr(text, "\r\n\r\n") : NULL;
        if (end != NULL) {
            content = end + 4;
            char *field = strcasestr(text, "\r\ncontent-length:");
            length = field != NULL && field < end ? strtoul(field + 17, NULL, 10) : 0;
        }
    }
    snprintf(answer, answer_bytes, "%.*s", (int) length, content);
    int status = atoi(text + strlen("HTTP/1.1 "));
    if (status == 200) {
        return 0;
    }
    snprintf(lane->error, sizeof lane->error, "%.1000s", answer);
    return status;
}

static inline void gatun_lane_close(struct gatun_lane *lane) {
    if (lane->socket >= 0) {
        close(lane->socket);
    }
    if (lane->memory != NULL) {
        munmap(lane->memory, lane->byte_size);
    }
    lane->socket = -1;
    lane->memory = NULL;
}

/* Opens a lane with `data_bytes` of room for tensors. Close it also when this fails. */
static inline int gatun_lane_open(struct gatun_lane *lane, const char *socket_path, size_t data_bytes) {
    memset(lane, 0, sizeof *lane);
    lane->rest = 16;
    lane->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    if (lane->socket < 0 || connect(lane->socket, (struct sockaddr *) &address, sizeof address) != 0) {
        return gatun_fail(lane, socket_path);
    }
    lane->byte_size = GATUN_DATA_AT + data_bytes;
    int file = memfd_create("gatun-lane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t) lane->byte_size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
        memory = mmap(NULL, lane->byte_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (memory == MAP_FAILED) {
        return gatun_fail(lane, "no memory for a lane");
    }
    lane->memory = memory;
    lane->data = lane->memory + GATUN_DATA_AT;
    lane->data_bytes = data_bytes;
    char body[256];
    char answer[512];
    snprintf(
            body,
            sizeof body,
            "{\"key\":\"/proc/%d/fd/%d\",\"slots\":%d,\"tensors\":%d,\"data_byte_size\":%zu}",
            getpid(),
            file,
            GATUN_SLOTS,
            GATUN_TENSORS,
            data_bytes);
    int refused = gatun_post(lane, "/v2/lanes", body, answer, sizeof answer);
    close(file);
    if (refused == 0 && sscanf(answer, "{\"lane\":\"%63[^\"]", lane->name) != 1) {
        snprintf(lane->error, sizeof lane->error, "the server opened no lane: %.900s", answer);
        refused = -1;
    }
    return refused;
}

/* Tells the server once what requests to a model are like: `json` is a request for inference of the v2 protocol without
 * shapes and data. Keeps its number in `prepared`. */
static inline int gatun_lane_prepare(struct gatun_lane *lane, const char *model, const char *json, uint32_t *prepared) {
    char path[256];
    char answer[4096];
    snprintf(path, sizeof path, "/v2/lanes/%s/models/%s/prepare", lane->name, model);
    int refused = gatun_post(lane, path, json, answer, sizeof answer);
    if (refused == 0 && sscanf(answer, "{\"prepared\":%u", prepared) != 1) {
        snprintf(lane->error, sizeof lane->error, "the server prepared nothing: %.900s", answer);
        refused = -1;
    }
    return refused;
}

static inline struct gatun_slot *gatun_slot(struct gatun_lane *lane, int slot) {
    return (struct gatun_slot *) (lane->memory + GATUN_SLOTS_AT + (size_t) slot * GATUN_SLOT_BYTES);
}

static inline long gatun_futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* Gives a filled slot to the server; wakes it only where it sleeps. */
static inline void gatun_lane_submit(struct gatun_lane *lane, int slot, int command) {
    if (command == GATUN_INFER) {
        lane->turns[slot]++;
        lane->under_way++;
        int alone = lane->under_way == 1 && !lane->spins;
        gatun_slot(lane, slot)->caller_core = lane->hands_over && alone ? (uint32_t) sched_getcpu() + 1 : 0;
        gatun_slot(lane, slot)->client_asleep = 0;
    }
    if (command != GATUN_CANCEL) {
        __atomic_store_n(&gatun_slot(lane, slot)->state, GATUN_FILLED, __ATOMIC_SEQ_CST);
    }
    uint32_t *ring = (uint32_t *) (lane->memory + GATUN_PAGE);
    uint32_t entry = lane->turns[slot] << 12 | (uint32_t) command << 10 | (uint32_t) slot;
    __atomic_store_n(&ring[lane->position++ % (4 * GATUN_SLOTS)], entry, __ATOMIC_SEQ_CST);
    uint32_t *asleep = (uint32_t *) (lane->memory + GATUN_SERVER_ASLEEP);
    if (__atomic_load_n(asleep, __ATOMIC_SEQ_CST) != 0 && __atomic_exchange_n(asleep, 0, __ATOMIC_SEQ_CST) != 0) {
        uint32_t *bell = (uint32_t *) (lane->memory + GATUN_SERVER_BELL);
        __atomic_add_fetch(bell, 1, __ATOMIC_SEQ_CST);
        gatun_futex(bell, FUTEX_WAKE, INT32_MAX, NULL);
    }
}

/* Learns whether handing the core over takes less than a sleep: each is measured for a while, and tried again later. */
static inline void gatun_lane_learn(struct gatun_lane *lane, int64_t nanos) {
    lane->waits++;
    if (lane->hands_over && lane->waits <= 4) {
        return; /* the server has to learn of the core */
    }
    int64_t mean = lane->mean_nanos;
    lane->mean_nanos = mean == 0 ? nanos : mean + ((nanos < 8 * mean ? nanos : 8 * mean) - mean) / 16;
    if (lane->waits < (lane->hands_over ? 12 : lane->rest)) {
        return;
    }
    if (!lane->hands_over) {
        lane->mean_of_sleeps = lane->mean_nanos;
        lane->rest = lane->rest < 4096 ? 2 * lane->rest : 4096;
    } else if (lane->waits >= 4096) {
        lane->rest = 16;
    } else if (lane->mean_nanos <= lane->mean_of_sleeps) {
        return;
    }
    lane->hands_over = !lane->hands_over;
    lane->waits = 0;
    lane->mean_nanos = 0;
}

/* Leaves the core to its other thread for a moment, which may be the server's. */
static inline void gatun_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Waits for an answer: looks for `spin_nanos`, and sleeps then. Returns the slot's state, GATUN_DONE or GATUN_MORE; -1
 * when the server has ended. */
static inline int gatun_lane_wait(struct gatun_lane *lane, int slot, long spin_nanos) {
    struct gatun_slot *answer = gatun_slot(lane, slot);
    struct timespec begin;
    struct timespec now;
    uint32_t state;
    lane->spins = spin_nanos > 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (lane->spins) {
        do {
            for (int i = 0; i < 16; i++) {
                state = __atomic_load_n(&answer->state, __ATOMIC_ACQUIRE);
                if (state != GATUN_FILLED) {
                    lane->under_way -= state == GATUN_DONE;
                    return (int) state;
                }
                gatun_pause();
            }
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < spin_nanos);
    }
    for (int i = 0; answer->caller_core != 0 && i < 3; i++) {
        if (__atomic_load_n(&answer->state, __ATOMIC_SEQ_CST) == GATUN_FILLED) {
            sched_yield();
        }
    }
    /* The connection ends with the server, and nothing else tells: a sleep is short for that. */
    const struct timespec look = {.tv_nsec = 50 * 1000 * 1000};
    while ((state = __atomic_load_n(&answer->state, __ATOMIC_SEQ_CST)) == GATUN_FILLED) {
        __atomic_store_n(&answer->client_asleep, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&answer->state, __ATOMIC_SEQ_CST) == GATUN_FILLED) {
            gatun_futex(&answer->state, FUTEX_WAIT, GATUN_FILLED, &look);
        }
        struct pollfd connection = {.fd = lane->socket, .events = POLLIN};
        if (__atomic_load_n(&answer->state, __ATOMIC_SEQ_CST) == GATUN_FILLED && poll(&connection, 1, 0) > 0) {
            snprintf(lane->error, sizeof lane->error, "the server has ended the lane");
            return -1;
        }
    }
    int alone = lane->under_way == 1;
    lane->under_way -= state == GATUN_DONE;
    if (alone && spin_nanos <= 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        gatun_lane_learn(lane, (now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec);
    }
    return (int) state;
}

/* The text of an answer whose code is not 0, of answer_bytes bytes, in lane->error. */
static inline int gatun_lane_failed(struct gatun_lane *lane, int slot) {
    struct gatun_slot *answer = gatun_slot(lane, slot);
    if (answer->code == 0) {
        return 0;
    }
    snprintf(lane->error, sizeof lane->error, "%.*s", (int) answer->answer_bytes, answer->answer_text);
    return (int) answer->code;
}

#endif
