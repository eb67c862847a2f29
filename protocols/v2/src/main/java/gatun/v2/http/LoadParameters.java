// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.Base64Text;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.runtime.limits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the configuration and files that a load request overrides; files go from the body into buffers of the pool,
 * never to the heap. Closed when the model is loaded. Used for one request, by one thread.
 */
final class LoadParameters implements JsonBody.Members, AutoCloseable {
    /** The member that holds the parameters. */
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
            throw GatunException.invalidArgument("load parameter '" + file.parameter() + "' is not base64 text: byte "
                    + (-1 - byteSize) + " is none of its letters, or the text ends too early there");
        }
        return base64.asSlice(0, byteSize);
    }
}
