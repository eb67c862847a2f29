/** Runs models that PyTorch's AOTInductor compiled, by the C functions of their libraries and of PyTorch's, through Panama. */
module gatun.backend.torch {
    requires static org.jspecify;
    requires com.fasterxml.jackson.core;
    requires com.google.protobuf;
    requires gatun.bindings;
    requires gatun.spi;
    requires org.slf4j;

    provides gatun.spi.Backend with
            gatun.backend.torch.TorchBackend;
}
