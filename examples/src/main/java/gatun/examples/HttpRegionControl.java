package gatun.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;

/** Shared memory over HTTP. */
final class HttpRegionControl implements RegionControl {
    private static final String REGIONS = "/v2/systemsharedmemory/region/";

    private final HttpConnection connection;

    HttpRegionControl(URI server) {
        connection = new HttpConnection(server);
    }

    @Override
    public void register(SharedPicture shared) {
        ObjectNode json = HttpConnection.JSON.createObjectNode();
        json.put("key", shared.key()).put("offset", 0).put("byte_size", SharedPicture.SIZE);
        connection.post(REGIONS + shared.name() + "/register", json);
    }

    @Override
    public void infer(SharedPicture shared) {
        InferBody body = new InferBody();
        place(body.input(), shared, SharedPicture.INPUT_OFFSET, SharedPicture.INPUT_SIZE);
        place(body.output(), shared, SharedPicture.OUTPUT_OFFSET, SharedPicture.OUTPUT_SIZE);
        connection.post(InferBody.PATH, body.json());
    }

    @Override
    public void unregister(SharedPicture shared) {
        connection.post(REGIONS + shared.name() + "/unregister", HttpConnection.JSON.createObjectNode());
    }

    @Override
    public void close() {
        connection.close();
    }

    private static void place(ObjectNode tensor, SharedPicture shared, long offset, long size) {
        tensor.putObject("parameters")
                .put("shared_memory_region", shared.name())
                .put("shared_memory_offset", offset)
                .put("shared_memory_byte_size", size);
    }
}
