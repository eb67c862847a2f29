/* SPDX-License-Identifier: Apache-2.0
 *
 * The floor beside the servers of `jmh/suspects --loops`: answers each read on a connection with a response of the size
 * that `simple` has in binary, after so many microseconds of work, with one read and one write. Prints its port.
 *
 *   epoll_server own THREADS MICROS      each thread waits for connections of its own
 *   epoll_server shared THREADS MICROS   all threads wait for all connections, and take one at a time
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, EVENTS = 64, BODY = 358 };

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                           "Inference-Header-Content-Length: 230\r\nContent-Length: 358\r\n\r\n";
static char response[sizeof head - 1 + BODY];
static int polls[MOST_THREADS];
static int shared;
static long work_nanos;

static long nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *serve(void *poll) {
    int own = *(int *) poll;
    struct epoll_event events[EVENTS];
    char request[8192];
    for (;;) {
        int count = epoll_wait(own, events, shared ? 1 : EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int connection = events[i].data.fd;
            if (recv(connection, request, sizeof request, 0) <= 0) {
                close(connection);
                continue;
            }
            for (long end = nanos() + work_nanos; nanos() < end;) {
            }
            if (shared) {
                struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = connection};
                epoll_ctl(own, EPOLL_CTL_MOD, connection, &again);
            }
            send(connection, response, sizeof response, MSG_NOSIGNAL);
        }
    }
    return NULL;
}

int main(int count, char **words) {
    if (count != 4) {
        fputs("epoll_server own|shared THREADS MICROS\n", stderr);
        return 2;
    }
    shared = strcmp(words[1], "shared") == 0;
    int threads = atoi(words[2]), on = 1;
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "%s threads; expected 1 to %d\n", words[2], MOST_THREADS);
        return 2;
    }
    work_nanos = atol(words[3]) * 1000;
    memcpy(response, head, sizeof head - 1);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *) &address, length) != 0 || listen(listener, 4096) != 0
        || getsockname(listener, (struct sockaddr *) &address, &length) != 0) {
        perror("epoll_server");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int i = 0; i < threads; i++) {
        polls[i] = shared && i > 0 ? polls[0] : epoll_create1(0);
        pthread_t thread;
        pthread_create(&thread, NULL, serve, &polls[i]);
    }
    for (int next = 0;; next = (next + 1) % threads) {
        int connection = accept(listener, NULL, NULL);
        if (connection >= 0) {
            setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            struct epoll_event event = {.events = shared ? EPOLLIN | EPOLLONESHOT : EPOLLIN, .data.fd = connection};
            epoll_ctl(polls[next], EPOLL_CTL_ADD, connection, &event);
        }
    }
}
