// SPDX-License-Identifier: Apache-2.0
/** TensorFlow Serving's protocol: the meaning of its requests, its routes over HTTP and its services over gRPC. */
module gatun.tensorflow.serving {
    requires static org.jspecify;
    requires transitive gatun.protocol;
    requires transitive gatun.wire;
    requires com.google.protobuf;
    requires org.slf4j;

    exports gatun.tensorflow.serving.protocol;

    provides gatun.protocol.ProtocolProvider with
            gatun.tensorflow.serving.protocol.TensorFlowProtocolProvider;
}
