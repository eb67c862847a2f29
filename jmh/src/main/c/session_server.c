/*
 * The other baseline of `jmh/run models`: the least that a server in C does to run a model for clients over HTTP.
 *
 *   session_server LIBRARY MODEL SESSIONS LENGTH [THREADS [KEY=VALUE...]]
 *
 * Opens MODEL that many times, prints the port that it listens on, and answers the requests of each connection on a
 * thread of its own; connection i has session i modulo SESSIONS. Takes binary requests of Open Inference Protocol v2 as
 * `wrk` sends them, and looks at nothing but their two lengths: tensors are read from where they were received, in the
 * order of the session's inputs, and its first output is written from where the session has left it. What varies in the
 * shape of an input is LENGTH, and 1 in its first dimension. THREADS and the options are those of session_load.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sessions.h"

enum { HEAD_BYTES = 4096, BODY_BYTES = 4 << 20 };

static long length;

/* One client, and what serves it. */
struct connection {
    int socket;
    OrtSession *session;
    pthread_mutex_t *turn; /* NULL where a session runs for several connections at a time */
    size_t input_count;
    struct input inputs[MAX_TENSORS];
    const char *input_names[MAX_TENSORS], *output_name;
    char head[HEAD_BYTES];
    char *body; /* the tensors begin HEAD_BYTES behind, the JSON ends there */
};

/* The number behind a header's name. */
static size_t header(const char *head, const char *name) {
    const char *at = strcasestr(head, name);
    return at == NULL ? 0 : strtoul(at + strlen(name), NULL, 10);
}

/* Whether a request has come, and no end of the connection. */
static bool receive(struct connection *connection) {
    size_t had = 0;
    char *end = NULL;
    while (end == NULL) {
        ssize_t count = recv(connection->socket, connection->head + had, HEAD_BYTES - 1 - had, 0);
        if (count <= 0) {
            return false;
        }
        had += (size_t)count;
        connection->head[had] = 0;
        end = strstr(connection->head, "\r\n\r\n");
    }
    size_t size = header(connection->head, "\r\nContent-Length:");
    size_t json = header(connection->head, "\r\nInference-Header-Content-Length:");
    if (json > HEAD_BYTES || json > size || size - json > BODY_BYTES) {
        fprintf(stderr, "a request of %zu bytes with %zu of JSON; expected at most %d behind %d\n", size, json, BODY_BYTES,
                HEAD_BYTES);
        exit(1);
    }
    char *body = connection->body + HEAD_BYTES - json;
    size_t received = had - (size_t)(end + 4 - connection->head);
    memcpy(body, end + 4, received);
    while (received < size) {
        ssize_t count = recv(connection->socket, body + received, size - received, 0);
        if (count <= 0) {
            return false;
        }
        received += (size_t)count;
    }
    return true;
}

static OrtValue *run(struct connection *connection) {
    OrtValue *inputs[MAX_TENSORS], *output = NULL;
    char *at = connection->body + HEAD_BYTES;
    for (size_t i = 0; i < connection->input_count; i++) {
        struct input *input = &connection->inputs[i];
        check(api->CreateTensorWithDataAsOrtValue(memory, at, input->byte_size, input->shape, input->rank, input->element,
                                                  &inputs[i]));
        at += input->byte_size;
    }
    if (connection->turn != NULL) {
        pthread_mutex_lock(connection->turn);
    }
    check(api->Run(connection->session, NULL, connection->input_names, (const OrtValue *const *)inputs,
                   connection->input_count, &connection->output_name, 1, &output));
    if (connection->turn != NULL) {
        pthread_mutex_unlock(connection->turn);
    }
    for (size_t i = 0; i < connection->input_count; i++) {
        api->ReleaseValue(inputs[i]);
    }
    return output;
}

/* Whether the client has got the response. */
static bool respond(struct connection *connection, OrtValue *value) {
    struct output output = describe_output(value);
    char dims[MAX_RANK * 21 + 1] = "", json[1024], head[256];
    size_t used = 0;
    for (size_t i = 0; i < output.rank; i++) {
        used += (size_t)snprintf(dims + used, sizeof dims - used, i == 0 ? "%lld" : ",%lld", (long long)output.shape[i]);
    }
    int json_size = snprintf(json, sizeof json,
                             "{\"model_name\":\"model\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"%s\",\"datatype\":"
                             "\"FP32\",\"shape\":[%s],\"parameters\":{\"binary_data_size\":%zu}}]}",
                             connection->output_name, dims, output.byte_size);
    int head_size = snprintf(head, sizeof head,
                             "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                             "Inference-Header-Content-Length: %d\r\nContent-Length: %zu\r\n\r\n",
                             json_size, (size_t)json_size + output.byte_size);
    struct iovec parts[] = {{head, (size_t)head_size}, {json, (size_t)json_size}, {output.data, output.byte_size}};
    ssize_t whole = (ssize_t)((size_t)head_size + (size_t)json_size + output.byte_size);
    return writev(connection->socket, parts, 3) == whole;
}

static void *serve(void *argument) {
    struct connection *connection = argument;
    bool open = true;
    while (open && receive(connection)) {
        OrtValue *output = run(connection);
        open = respond(connection, output);
        api->ReleaseValue(output);
    }
    close(connection->socket);
    free(connection->body);
    free(connection);
    return NULL;
}

static struct connection *connect_to(OrtSession *session, int socket, pthread_mutex_t *turn) {
    struct connection *connection = calloc(1, sizeof *connection);
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->socket = socket;
    connection->session = session;
    connection->turn = turn;
    connection->body = aligned_alloc(64, HEAD_BYTES + BODY_BYTES);
    check(api->SessionGetInputCount(session, &connection->input_count));
    for (size_t i = 0; i < connection->input_count; i++) {
        check(api->SessionGetInputName(session, i, allocator, (char **)&connection->input_names[i]));
        connection->inputs[i] = describe_input(session, i, 1, length);
    }
    check(api->SessionGetOutputName(session, 0, allocator, (char **)&connection->output_name));
    return connection;
}

int main(int count, char **arguments) {
    if (count < 5) {
        fprintf(stderr, "session_server LIBRARY MODEL SESSIONS LENGTH [THREADS [KEY=VALUE...]]\n");
        return 2;
    }
    int session_count = atoi(arguments[3]);
    length = atol(arguments[4]);
    struct options options = {count - 5, arguments + 5};
    OrtSession **sessions = open_sessions(arguments[1], arguments[2], session_count, options);
    bool one_at_a_time = atoi(own_option(options, "loop.one_at_a_time", "0"));
    pthread_mutex_t *turns = calloc((size_t)session_count, sizeof *turns);
    for (int i = 0; i < session_count; i++) {
        pthread_mutex_init(&turns[i], NULL);
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 128) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("no port to listen on");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int i = 0;; i = (i + 1) % session_count) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) {
            perror("accept");
            return 1;
        }
        pthread_t thread;
        pthread_create(&thread, NULL, serve, connect_to(sessions[i], client, one_at_a_time ? &turns[i] : NULL));
        pthread_detach(thread);
    }
}
