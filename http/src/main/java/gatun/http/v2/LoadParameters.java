package gatun.http.v2;

import gatun.http.json.JsonReader;
import gatun.memory.GatunException;
import gatun.runtime.ModelOverride;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads what a load request overrides. Used for one request, by one thread. */
final class LoadParameters implements JsonBody.Members {
    /** The member that holds the parameters. */
    static final String NAME = "parameters";

    private static final String FILE_PREFIX = "file:";

    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private String config = "";

    /** What the members read so far override. */
    ModelOverride override() {
        return new ModelOverride(config, files);
    }

    @Override
    public void member(JsonReader json) {
        if (!json.nameIs(NAME)) {
            json.skipValue();
            return;
        }
        json.enterObject("");
        while (json.nextMember()) {
            String name = json.name();
            if (name.equals("config")) {
                config = json.readString("");
            } else if (name.startsWith(FILE_PREFIX)) {
                files.put(name.substring(FILE_PREFIX.length()), decoded(name, json.readString("")));
            } else {
                throw GatunException.invalidArgument("unrecognized load parameter '" + name + "'.");
            }
        }
    }

    private static byte[] decoded(String name, String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw GatunException.invalidArgument("load parameter '" + name + "' is not base64 text: " + e.getMessage());
        }
    }
}
