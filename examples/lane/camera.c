/* SPDX-License-Identifier: Apache-2.0
 *
 * A camera-like producer: writes frames of 16 numbers where the server reads them, in turns into two slots, so that one
 * frame is made while the other is inferred. Prints the sum of all answers, and how long one took.
 *
 *     cc -O2 -o camera camera.c
 *     ./camera /run/gatun.sock 1000
 */
#define _GNU_SOURCE
#include "gatun_lane.h"

enum { NUMBERS = 16, FRAME = 256, IN_TURN = 2 };

static int refused(struct gatun_lane *lane) {
    fprintf(stderr, "camera: %s\n", lane->error);
    gatun_lane_close(lane);
    return 1;
}

static void place(struct gatun_tensor *tensor, uint64_t offset) {
    tensor->region = 0;
    tensor->rank = 2;
    tensor->dims[0] = 1;
    tensor->dims[1] = NUMBERS;
    tensor->offset = offset;
    tensor->byte_size = NUMBERS * sizeof(int32_t);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: camera SOCKET FRAMES\n");
        return 2;
    }
    int frames = atoi(arguments[2]);
    struct gatun_lane lane;
    uint32_t simple;
    if (gatun_lane_open(&lane, arguments[1], IN_TURN * FRAME) != 0
            || gatun_lane_prepare(
                       &lane,
                       "simple",
                       "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"},"
                       "{\"name\":\"INPUT1\",\"datatype\":\"INT32\"}],"
                       "\"outputs\":[{\"name\":\"OUTPUT0\"},{\"name\":\"OUTPUT1\"}]}",
                       &simple)
                    != 0) {
        return refused(&lane);
    }
    long sum = 0;
    uint64_t nanos = 0;
    for (int frame = 0; frame < frames + IN_TURN; frame++) {
        int slot = frame % IN_TURN;
        struct gatun_slot *request = gatun_slot(&lane, slot);
        int32_t *numbers = (int32_t *) (lane.data + slot * FRAME);
        if (frame >= IN_TURN) {
            if (gatun_lane_wait(&lane, slot, 0) < 0 || gatun_lane_failed(&lane, slot) != 0) {
                return refused(&lane);
            }
            for (int i = 0; i < NUMBERS; i++) {
                sum += numbers[2 * NUMBERS + i];
            }
            nanos += request->server_nanos;
        }
        if (frame < frames) {
            for (int i = 0; i < NUMBERS; i++) {
                numbers[i] = frame;
                numbers[NUMBERS + i] = i;
            }
            request->prepared = simple;
            for (int tensor = 0; tensor < 4; tensor++) {
                place(&request->tensors[tensor], (uint64_t) (slot * FRAME + tensor * NUMBERS * (int) sizeof(int32_t)));
            }
            gatun_lane_submit(&lane, slot, GATUN_INFER);
        }
    }
    printf("sum %ld of %d frames, %.1f us each in the server\n", sum, frames, (double) nanos / 1000 / frames);
    gatun_lane_close(&lane);
    return 0;
}
