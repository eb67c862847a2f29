/** The wire messages of the protocols that Gatun speaks, made by protoc from our own .proto files. */
module gatun.wire {
    requires static org.jspecify;
    requires transitive com.google.protobuf;
    requires transitive io.grpc;
    requires transitive io.grpc.stub;
    requires transitive io.grpc.protobuf;
    requires com.google.common;

    exports gatun.wire;
    exports gatun.wire.inference;
    exports gatun.wire.tensorflow;
    exports gatun.wire.tensorflow.profiler;
    exports gatun.wire.tensorflow.serving;
    exports gatun.wire.v1;
}
