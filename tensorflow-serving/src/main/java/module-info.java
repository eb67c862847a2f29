/** What TensorFlow Serving's requests mean, whichever way they come: which model answers them, by which signature, and in which words not. */
module gatun.tensorflow.serving {
    requires static org.jspecify;
    requires com.google.protobuf;
    requires transitive gatun.runtime;
    requires transitive gatun.protocol;

    exports gatun.tensorflow.serving to
            gatun.grpc,
            gatun.http,
            gatun.server;
}
