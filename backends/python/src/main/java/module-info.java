/** The engine that runs Triton's Python models and TorchScript, each instance in a process of its own. */
module gatun.backend.python {
    requires static org.jspecify;
    requires com.google.gson;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires gatun.spi;
    requires gatun.workers;
    requires org.slf4j;

    provides gatun.spi.Backend with
            gatun.backend.python.PythonBackend,
            gatun.backend.python.TorchScriptBackend;
}
