/*
 * As session_server.c, over gRPC: the least that a server in C++ does, with the library that Triton uses (grpc++ and its
 * callbacks).
 *
 *   session_server_grpc LIBRARY MODEL SESSIONS LENGTH [THREADS [KEY=VALUE...]]
 *
 * A call runs on the thread of the library that has read it, on a session that nobody uses where there is one, or else on
 * that whose turn it is. Takes ModelInferRequests of
 * Open Inference Protocol v2, and looks at nothing but their raw_input_contents, which are read where the library has put
 * them, in the order of the session's inputs.
 */
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include "sessions.h"
}

namespace {

/* Fields of ModelInferRequest, ModelInferResponse and its InferOutputTensor. */
enum { RAW_INPUT_CONTENTS = 7, MODEL_NAME = 1, MODEL_VERSION = 2, OUTPUTS = 5, RAW_OUTPUT_CONTENTS = 6 };
enum { TENSOR_NAME = 1, TENSOR_DATATYPE = 2, TENSOR_SHAPE = 3 };

enum { WIRE_TYPE_BITS = 3, LENGTH_DELIMITED = 2 };

/* A session, and whose turn it is to run it. */
struct Served {
    OrtSession *session;
    std::mutex turn;
};

struct Model {
    std::vector<Served> sessions;
    std::atomic<unsigned> calls{0};
    bool one_at_a_time = false;
    size_t input_count = 0;
    input inputs[MAX_TENSORS];
    const char *input_names[MAX_TENSORS], *output_name = nullptr;

    explicit Model(int session_count) : sessions(static_cast<size_t>(session_count)) {}
};

/* The use of a session, which runs for one call at a time where the model says so. */
class Turn {
public:
    explicit Turn(Model &model) : served_(model.sessions[model.calls++ % model.sessions.size()]) {
        if (!model.one_at_a_time) {
            return;
        }
        for (Served &free : model.sessions) {
            lock_ = std::unique_lock<std::mutex>(free.turn, std::try_to_lock);
            if (lock_.owns_lock()) {
                session_ = free.session;
                return;
            }
        }
        lock_ = std::unique_lock<std::mutex>(served_.turn);
    }

    OrtSession *session() const { return session_; }

private:
    Served &served_;
    OrtSession *session_ = served_.session;
    std::unique_lock<std::mutex> lock_;
};

uint64_t read_varint(std::string_view &in) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        value |= static_cast<uint64_t>(byte & 127) << shift;
        if (byte < 128) {
            return value;
        }
    }
}

void write_varint(std::string &out, uint64_t value) {
    for (; value > 127; value >>= 7) {
        out.push_back(static_cast<char>((value & 127) | 128));
    }
    out.push_back(static_cast<char>(value));
}

void write_field(std::string &out, int number, std::string_view bytes) {
    write_varint(out, static_cast<uint64_t>(number) << WIRE_TYPE_BITS | LENGTH_DELIMITED);
    write_varint(out, bytes.size());
    out.append(bytes);
}

/* The tensors of a request; its other fields are passed over. */
std::vector<std::string_view> tensors(std::string_view request) {
    std::vector<std::string_view> found;
    while (!request.empty()) {
        uint64_t key = read_varint(request), size_or_value = read_varint(request);
        if ((key & ((1 << WIRE_TYPE_BITS) - 1)) != LENGTH_DELIMITED) {
            continue;
        }
        if (key >> WIRE_TYPE_BITS == RAW_INPUT_CONTENTS) {
            found.push_back(request.substr(0, size_or_value));
        }
        request.remove_prefix(size_or_value);
    }
    return found;
}

std::string response_of(const Model &model, OrtValue *value) {
    output output = describe_output(value);
    std::string dims, tensor, response;
    for (size_t i = 0; i < output.rank; i++) {
        write_varint(dims, static_cast<uint64_t>(output.shape[i]));
    }
    write_field(tensor, TENSOR_NAME, model.output_name);
    write_field(tensor, TENSOR_DATATYPE, "FP32");
    write_field(tensor, TENSOR_SHAPE, dims);
    response.reserve(output.byte_size + 256);
    write_field(response, MODEL_NAME, "model");
    write_field(response, MODEL_VERSION, "1");
    write_field(response, OUTPUTS, tensor);
    write_field(response, RAW_OUTPUT_CONTENTS, {static_cast<const char *>(output.data), output.byte_size});
    return response;
}

std::string infer(Model &model, std::string_view request) {
    std::vector<std::string_view> brought = tensors(request);
    std::vector<OrtValue *> inputs(model.input_count);
    for (size_t i = 0; i < model.input_count; i++) {
        const input &wanted = model.inputs[i];
        check(api->CreateTensorWithDataAsOrtValue(memory, const_cast<char *>(brought.at(i).data()), wanted.byte_size,
                                                  wanted.shape, wanted.rank, wanted.element, &inputs[i]));
    }
    OrtValue *output = nullptr;
    {
        Turn turn(model);
        check(api->Run(turn.session(), nullptr, model.input_names, inputs.data(), model.input_count, &model.output_name, 1,
                       &output));
    }
    for (OrtValue *value : inputs) {
        api->ReleaseValue(value);
    }
    std::string response = response_of(model, output);
    api->ReleaseValue(output);
    return response;
}

/* One call; deletes itself at its end. */
class Call final : public grpc::ServerGenericBidiReactor {
public:
    explicit Call(Model &model) : model_(model) { StartRead(&request_); }

    void OnReadDone(bool ok) override {
        if (!ok) {
            Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"));
            return;
        }
        grpc::Slice whole;
        if (!request_.TrySingleSlice(&whole).ok()) {
            request_.DumpToSingleSlice(&whole);
        }
        std::string response = infer(model_, {reinterpret_cast<const char *>(whole.begin()), whole.size()});
        grpc::Slice slice(response);
        response_ = grpc::ByteBuffer(&slice, 1);
        StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
    }

    void OnDone() override { delete this; }

private:
    Model &model_;
    grpc::ByteBuffer request_, response_;
};

class Service final : public grpc::CallbackGenericService {
public:
    explicit Service(Model &model) : model_(model) {}

    grpc::ServerGenericBidiReactor *CreateReactor(grpc::GenericCallbackServerContext *) override { return new Call(model_); }

private:
    Model &model_;
};

} // namespace

int main(int count, char **arguments) {
    if (count < 5) {
        fprintf(stderr, "session_server_grpc LIBRARY MODEL SESSIONS LENGTH [THREADS [KEY=VALUE...]]\n");
        return 2;
    }
    int session_count = atoi(arguments[3]), port = 0;
    options given = {count - 5, arguments + 5};
    Model model(session_count);
    OrtSession **sessions = open_sessions(arguments[1], arguments[2], session_count, given);
    for (int i = 0; i < session_count; i++) {
        model.sessions[static_cast<size_t>(i)].session = sessions[i];
    }
    model.one_at_a_time = atoi(own_option(given, "loop.one_at_a_time", "0")) != 0;
    check(api->SessionGetInputCount(sessions[0], &model.input_count));
    for (size_t i = 0; i < model.input_count; i++) {
        char *name;
        check(api->SessionGetInputName(sessions[0], i, allocator, &name));
        model.input_names[i] = name;
        model.inputs[i] = describe_input(sessions[0], i, 1, atol(arguments[4]));
    }
    char *output_name;
    check(api->SessionGetOutputName(sessions[0], 0, allocator, &output_name));
    model.output_name = output_name;
    Service service(model);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterCallbackGenericService(&service);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    printf("%d\n", port);
    fflush(stdout);
    server->Wait();
}
