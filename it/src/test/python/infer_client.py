"""Talks to a server with gRPC's C core, as clients in Python, C++, Ruby and C# do.

Usage: infer_client.py TARGET KEY [AUTHORITY]. The server serves the example models and allows shared memory; KEY names a
POSIX object of 8 KiB that the caller made; AUTHORITY replaces what the C core sends as :authority. Prints "ok" after the
name of each check; fails with a traceback otherwise.

The messages' descriptors come from the server's reflection service, so that nothing needs to be generated.
"""

import mmap
import struct
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "inference.GRPCInferenceService"
PREDICTION = "tensorflow.serving.PredictionService"
OBJECT_SIZE = 8192
LIMIT_SECONDS = 30

LEFT = list(range(1, 17))
RIGHT = list(range(101, 117))
SUM = [a + b for a, b in zip(LEFT, RIGHT)]
DIFFERENCE = [a - b for a, b in zip(LEFT, RIGHT)]

target, key = sys.argv[1:3]
options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
if len(sys.argv) > 3:
    options.append(("grpc.default_authority", sys.argv[3]))


def check(name, actual, expected):
    if actual != expected:
        raise AssertionError(f"{name}: {actual!r} instead of {expected!r}")
    print(name, "ok", flush=True)


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def submessages(data, number):
    """The length-delimited fields of that number in a message that has no fields of fixed width."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        length, at = varint(data, at)
        if tag & 7 == 2:
            if tag >> 3 == number:
                yield data[at : at + length]
            at += length


def reflect(channel, service):
    """Asks the server for the files that define a service."""
    ask = channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
    request = b"\x22" + bytes([len(service)]) + service.encode()  # file_containing_symbol = 4
    (answer,) = ask(iter([request]), timeout=LIMIT_SECONDS)
    (files,) = submessages(answer, 4)  # file_descriptor_response
    return [descriptor_pb2.FileDescriptorProto.FromString(file) for file in submessages(files, 1)]


class Messages:
    """The classes of a package's messages, as attributes."""

    def __init__(self, files, package):
        self.package = package
        self.pool = descriptor_pool.DescriptorPool()
        waiting = {file.name: file for file in files}
        while waiting:
            file = next(f for f in waiting.values() if not any(d in waiting for d in f.dependency))
            self.pool.Add(waiting.pop(file.name))

    def __getattr__(self, name):
        descriptor = self.pool.FindMessageTypeByName(self.package + "." + name)
        if hasattr(message_factory, "GetMessageClass"):
            return message_factory.GetMessageClass(descriptor)
        return message_factory.MessageFactory(self.pool).GetPrototype(descriptor)


def ints(raw):
    return list(struct.unpack(f"<{len(raw) // 4}i", raw))


def pack(values):
    return struct.pack(f"<{len(values)}i", *values)


def simple(identifier="", model="simple"):
    """A request without its inputs' contents."""
    request = messages.ModelInferRequest(model_name=model, id=identifier)
    for name in ("INPUT0", "INPUT1"):
        request.inputs.add(name=name, datatype="INT32", shape=[1, 16])
    return request


def raw(identifier="", model="simple"):
    request = simple(identifier, model)
    request.raw_input_contents.extend([pack(LEFT), pack(RIGHT)])
    return request


def window(tensor, offset, size):
    """Says that a tensor lies in the region "core"."""
    tensor.parameters["shared_memory_region"].string_param = "core"
    tensor.parameters["shared_memory_offset"].int64_param = offset
    tensor.parameters["shared_memory_byte_size"].int64_param = size


def outputs(response):
    return [(o.name, o.datatype, list(o.shape), ints(r)) for o, r in zip(response.outputs, response.raw_output_contents)]


ANSWER = [("OUTPUT0", "INT32", [1, 16], SUM), ("OUTPUT1", "INT32", [1, 16], DIFFERENCE)]


def unary(method, request, answer, service=SERVICE):
    call = channel.unary_unary(
        f"/{service}/{method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=answer.FromString,
    )
    return call(request, timeout=LIMIT_SECONDS)


def infer(request):
    return unary("ModelInfer", request, messages.ModelInferResponse)


def refused(call):
    try:
        return "answered with " + str(call())
    except grpc.RpcError as error:
        return error.code(), error.details()


def check_control():
    check("live", unary("ServerLive", messages.ServerLiveRequest(), messages.ServerLiveResponse).live, True)
    metadata = unary("ModelMetadata", messages.ModelMetadataRequest(name="simple"), messages.ModelMetadataResponse)
    check("metadata names", (metadata.name, list(metadata.versions)), ("simple", ["1"]))
    check(
        "metadata tensors",
        [(t.name, t.datatype, list(t.shape)) for t in (*metadata.inputs, *metadata.outputs)],
        [(name, "INT32", [-1, 16]) for name in ("INPUT0", "INPUT1", "OUTPUT0", "OUTPUT1")],
    )


def check_infer():
    response = infer(raw("the-id"))
    check("raw contents", outputs(response), ANSWER)
    check("id", (response.model_name, response.model_version, response.id), ("simple", "1", "the-id"))
    typed = simple()
    typed.inputs[0].contents.int_contents.extend(LEFT)
    typed.inputs[1].contents.int_contents.extend(RIGHT)
    check("typed contents", outputs(infer(typed)), ANSWER)
    numbers = struct.pack(f"<{1 << 20}f", *range(1 << 20))
    large = messages.ModelInferRequest(model_name="identity_fp32", raw_input_contents=[numbers])
    large.inputs.add(name="INPUT0", datatype="FP32", shape=[1 << 20])
    check("4 MiB", infer(large).raw_output_contents[0] == numbers, True)
    check(
        "unknown model",
        refused(lambda: infer(raw(model="none"))),
        (grpc.StatusCode.NOT_FOUND, "Request for unknown model: 'none' is not found"),
    )
    check("missing contents", refused(lambda: infer(simple()))[0], grpc.StatusCode.INVALID_ARGUMENT)


def check_stream():
    stream = channel.stream_stream(
        f"/{SERVICE}/ModelStreamInfer",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=messages.ModelStreamInferResponse.FromString,
    )
    requests = [raw("first"), raw("second", "none"), raw("third")]
    answers = list(stream(iter(requests), timeout=LIMIT_SECONDS))
    check("stream errors", [a.error_message for a in answers], ["", "Request for unknown model: 'none' is not found", ""])
    check("stream ids", [answers[i].infer_response.id for i in (0, 2)], ["first", "third"])
    check("stream outputs", [outputs(answers[i].infer_response) for i in (0, 2)], [ANSWER, ANSWER])


def region_status():
    answer = unary(
        "SystemSharedMemoryStatus",
        messages.SystemSharedMemoryStatusRequest(),
        messages.SystemSharedMemoryStatusResponse,
    )
    return {name: (r.name, r.key, r.offset, r.byte_size) for name, r in answer.regions.items()}


def register(name, offset, size):
    unary(
        "SystemSharedMemoryRegister",
        messages.SystemSharedMemoryRegisterRequest(name=name, key=key, offset=offset, byte_size=size),
        messages.SystemSharedMemoryRegisterResponse,
    )


def check_shared_memory(memory):
    base = 4096
    check("no region", region_status(), {})
    register("core", base, 4096)
    check("region", region_status(), {"core": ("core", key, base, 4096)})
    memory[base : base + 64] = pack(LEFT)
    memory[base + 64 : base + 128] = pack(RIGHT)
    request = simple()
    for i, tensor in enumerate(request.inputs):
        window(tensor, 64 * i, 64)
    for i, name in enumerate(("OUTPUT0", "OUTPUT1")):
        window(request.outputs.add(name=name), 1024 + 64 * i, 64)
    response = infer(request)
    check("no contents beside the region", [len(content) for content in response.raw_output_contents], [0, 0])
    check("output in the region", ints(memory[base + 1024 : base + 1088]), SUM)
    check("next output in the region", ints(memory[base + 1088 : base + 1152]), DIFFERENCE)
    code, _ = refused(lambda: register("beyond", 4096, 8192))
    check("region beyond its object", code, grpc.StatusCode.INVALID_ARGUMENT)
    unary(
        "SystemSharedMemoryUnregister",
        messages.SystemSharedMemoryUnregisterRequest(name="core"),
        messages.SystemSharedMemoryUnregisterResponse,
    )
    check("unregistered", region_status(), {})
    check(
        "region that is gone",
        refused(lambda: infer(request)),
        (grpc.StatusCode.NOT_FOUND, "Unable to find shared memory region: 'core'"),
    )


def check_tensorflow_serving(serving):
    def predict(request):
        return unary("Predict", request, serving.PredictResponse, PREDICTION)

    def request(model="simple"):
        message = serving.PredictRequest()
        message.model_spec.name = model
        for name, values in (("INPUT0", LEFT), ("INPUT1", RIGHT)):
            tensor = message.inputs[name]
            tensor.dtype = 3  # DT_INT32
            for size in (1, 16):
                tensor.tensor_shape.dim.add().size = size
            tensor.int_val.extend(values)
        return message

    response = predict(request())
    check(
        "predict",
        {name: (tensor.dtype, list(tensor.int_val)) for name, tensor in response.outputs.items()},
        {"OUTPUT0": (3, SUM), "OUTPUT1": (3, DIFFERENCE)},
    )
    check("model_spec", (response.model_spec.name, response.model_spec.version.value), ("simple", 1))
    packed = request()
    packed.output_filter.append("OUTPUT1")
    for name, values in (("INPUT0", LEFT), ("INPUT1", RIGHT)):
        del packed.inputs[name].int_val[:]
        packed.inputs[name].tensor_content = pack(values)
    check("tensor_content", {n: list(t.int_val) for n, t in predict(packed).outputs.items()}, {"OUTPUT1": DIFFERENCE})
    check(
        "unknown servable",
        refused(lambda: predict(request("none"))),
        (grpc.StatusCode.NOT_FOUND, "Servable not found for request: Latest(none)"),
    )


with grpc.insecure_channel(target, options) as channel, open("/dev/shm" + key, "r+b") as shared:
    messages = Messages(reflect(channel, SERVICE), "inference")
    with mmap.mmap(shared.fileno(), OBJECT_SIZE) as memory:
        check_control()
        check_infer()
        check_stream()
        check_shared_memory(memory)
    check_tensorflow_serving(Messages(reflect(channel, PREDICTION), "tensorflow.serving"))
print("all ok")
