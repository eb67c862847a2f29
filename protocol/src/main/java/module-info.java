/** The wire messages of the protocols that Gatun speaks, made by protoc from our own .proto files. */
module gatun.protocol {
    requires transitive com.google.protobuf;
    requires transitive io.grpc;
    requires transitive io.grpc.stub;
    requires transitive io.grpc.protobuf;
    requires com.google.common;

    exports gatun.protocol.inference;
    exports gatun.protocol.tensorflow;
    exports gatun.protocol.tensorflow.serving;
    exports gatun.protocol.v1;
}
