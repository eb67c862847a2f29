// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.Base64Text;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The repository index, and loading and unloading of models. Safe for any thread. */
final class RepositoryRoutes {
    /** Heap for the state of a version, in bytes, while a client reads it. */
    private static final int STATUS_BYTE_SIZE = 1024;

    private final InferenceServer server;
    private final JsonBody jsonBody;

    RepositoryRoutes(InferenceServer server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    private static void refuseRepository(PathValues path) {
        if (!path.value("repository").isEmpty()) {
            throw new GatunException(ErrorCode.UNSUPPORTED, "'repository_name' specification is not supported");
        }
    }

    void load(Exchange exchange, PathValues path) {
        refuseRepository(path);
        RequestUsage usage = jsonBody.usage();
        try (LoadParameters parameters = new LoadParameters(server.buffers(), usage)) {
            jsonBody.read(exchange, usage, parameters);
            server.load(path.value("model"), parameters.override());
        }
        JsonResponse.sendEmpty(exchange);
    }

    void unload(Exchange exchange, PathValues path) {
        refuseRepository(path);
        boolean[] dependents = {false};
        jsonBody.readControl(exchange, members -> {
            if (!members.nameIs(LoadParameters.NAME)) {
                members.skipValue();
                return;
            }
            members.enterObject("");
            while (members.nextMember()) {
                if (members.nameIs("unload_dependents")) {
                    dependents[0] = members.readBoolean("");
                } else {
                    members.skipValue();
                }
            }
        });
        server.unload(path.value("model"), dependents[0]);
        JsonResponse.sendEmpty(exchange);
    }

    /** Answers with all models; the name of a repository makes no difference. */
    void index(Exchange exchange) {
        boolean[] readyOnly = {false};
        jsonBody.readControl(exchange, members -> {
            if (!members.nameIs("ready")) {
                members.skipValue();
                return;
            }
            if (members.peek() != JsonKind.BOOLEAN) {
                throw GatunException.invalidArgument("Invalid value for 'ready': expected a boolean");
            }
            readyOnly[0] = members.readBoolean("ready");
        });
        List<ModelStatus> models = server.index();
        Hold held = server.heap().reserve((long) models.size() * STATUS_BYTE_SIZE);
        try (held) {
            send(exchange, models, readyOnly[0]);
        }
    }

    private static void send(Exchange exchange, List<ModelStatus> models, boolean readyOnly) {
        JsonWriter json = exchange.json(JsonResponse.HEADERS).raw('[');
        boolean first = true;
        for (ModelStatus model : models) {
            if (readyOnly && model.state() != ModelState.READY) {
                continue;
            }
            if (!first) {
                json.raw(',');
            }
            first = false;
            write(json, model);
        }
        JsonResponse.send(exchange, json.raw(']'));
    }

    private static void write(JsonWriter json, ModelStatus model) {
        json.raw("{\"name\":").string(model.name());
        if (!model.version().isEmpty()) {
            json.raw(",\"version\":").string(model.version());
        }
        if (model.state() != ModelState.UNKNOWN) {
            json.raw(",\"state\":").string(model.state().name());
        }
        if (!model.reason().isEmpty()) {
            json.raw(",\"reason\":").string(model.reason());
        }
        json.raw('}');
    }

    /** A load request's configuration and files, decoded into pooled buffers. Closed once loaded. Not thread-safe. */
    static final class LoadParameters implements JsonBody.Members, AutoCloseable {
        static final String NAME = "parameters";
        private static final String FILE_PREFIX = "file:";

        /** Most heap for each byte of a configuration: as text, as JSON tree and as message. */
        private static final int HEAP_PER_CONFIG_BYTE = 16;

        private final BufferPool buffers;
        private final RequestUsage usage;
        private final List<File> files = new ArrayList<>();
        private final Map<String, MemorySegment> contents = new LinkedHashMap<>();
        private final List<Buffer> held = new ArrayList<>();
        private String config = "";

        /** A file's base64 text: its parameter and where the text stands in the body. */
        private record File(String parameter, long position) {}

        /** Overrides nothing; puts files into {@code buffers} and counts the rest in {@code usage}, which it closes. */
        LoadParameters(BufferPool buffers, RequestUsage usage) {
            this.buffers = buffers;
            this.usage = usage;
        }

        /** The configuration and files that were read; valid until this is closed. */
        ModelOverride override() {
            return new ModelOverride(config, contents);
        }

        @Override
        public void member(JsonReader json) {
            if (!json.nameIs(NAME)) {
                json.skipValue();
                return;
            }
            json.enterObject("");
            while (json.nextMember()) {
                usage.addParameter();
                String name = json.name();
                if (name.equals("config")) {
                    config = config(json);
                } else if (name.startsWith(FILE_PREFIX)) {
                    files.add(new File(name, json.position()));
                    long ignored = json.measureString("");
                } else {
                    throw GatunException.invalidArgument("unrecognized load parameter '" + name + "'.");
                }
            }
        }

        private String config(JsonReader json) {
            long byteSize = json.measureString("");
            usage.limits().requireControl(byteSize);
            usage.take(HEAP_PER_CONFIG_BYTE * byteSize);
            return json.countedText();
        }

        /** Decodes the files, which is done last: only then it is known that all of the body is JSON. */
        @Override
        public void finish(JsonReader json) {
            for (File file : files) {
                json.position(file.position());
                Buffer buffer = buffers.take(json.measureString(""));
                held.add(buffer);
                json.copyString(buffer.segment(), 0);
                contents.put(file.parameter().substring(FILE_PREFIX.length()), decoded(file, buffer.segment()));
            }
        }

        @Override
        public void close() {
            held.forEach(Buffer::close);
            usage.close();
        }

        private static MemorySegment decoded(File file, MemorySegment base64) {
            long byteSize = Base64Text.decode(base64, 0, base64.byteSize());
            if (byteSize < 0) {
                throw GatunException.invalidArgument(
                        "load parameter '" + file.parameter() + "' is not base64 text: byte " + (-1 - byteSize)
                                + " is none of its letters, or the text ends too early there");
            }
            return base64.asSlice(0, byteSize);
        }
    }
}
