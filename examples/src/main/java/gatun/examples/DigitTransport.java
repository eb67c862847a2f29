// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.net.URI;
import java.util.List;
import java.util.Locale;

/** The ways to reach the server, in the order in which they are shown. */
enum DigitTransport {
    HTTP_JSON("HTTP, JSON"),
    HTTP_BINARY("HTTP, binary"),
    GRPC("gRPC"),
    SHARED_MEMORY_HTTP("shared memory, HTTP"),
    SHARED_MEMORY_GRPC("shared memory, gRPC"),
    CUDA_HTTP("CUDA memory, HTTP"),
    CUDA_GRPC("CUDA memory, gRPC");

    private final String title;

    DigitTransport(String title) {
        this.title = title;
    }

    /** The name in the table. */
    String title() {
        return title;
    }

    /**
     * The transports that a word of the command line stands for; all are those that need no GPU.
     *
     * @throws DigitException if the word is not http, grpc, shm, cuda or all
     */
    static List<DigitTransport> named(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "http" -> List.of(HTTP_JSON, HTTP_BINARY);
            case "grpc" -> List.of(GRPC);
            case "shm" -> List.of(SHARED_MEMORY_HTTP, SHARED_MEMORY_GRPC);
            case "cuda" -> List.of(CUDA_HTTP, CUDA_GRPC);
            case "all" -> List.of(HTTP_JSON, HTTP_BINARY, GRPC, SHARED_MEMORY_HTTP, SHARED_MEMORY_GRPC);
            default ->
                throw new DigitException("Unknown transport '" + word + "': expected http, grpc, shm, cuda or all.");
        };
    }

    /**
     * Opens a client; shared memory is registered at once, the others connect when they are used.
     *
     * @param http the server's HTTP port, as in {@code http://localhost:8000}
     * @param grpc the server's gRPC port, as in {@code localhost:8001}
     */
    DigitClient open(URI http, String grpc) {
        return switch (this) {
            case HTTP_JSON -> new HttpJsonClient(http);
            case HTTP_BINARY -> new HttpBinaryClient(http);
            case GRPC -> new GrpcClient(grpc);
            case SHARED_MEMORY_HTTP -> SharedMemoryClient.open(new HttpRegionControl(http), SharedPicture::create);
            case SHARED_MEMORY_GRPC -> SharedMemoryClient.open(new GrpcRegionControl(grpc), SharedPicture::create);
            case CUDA_HTTP -> SharedMemoryClient.open(new HttpRegionControl(http), CudaPicture::create);
            case CUDA_GRPC -> SharedMemoryClient.open(new GrpcRegionControl(grpc), CudaPicture::create);
        };
    }
}
