// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.WireFormat;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.wire.tensorflow.SignatureDef;
import gatun.wire.tensorflow.TensorProto;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What {@code saved_model.pb} says of a graph. Read field by field, because the graph itself may hold weights of many
 * times the heap. {@code restores} tells whether variables get their values from files beside it.
 */
record SavedModelFile(
        List<String> tags, SortedMap<String, SignatureDef> signatures, Operations operations, boolean restores) {
    private static final String NAME = "saved_model.pb";

    // Fields of SavedModel, MetaGraphDef and MetaInfoDef.
    private static final int META_GRAPHS = 2;
    private static final int META_INFO = 1;
    private static final int GRAPH = 2;
    private static final int SAVER = 3;
    private static final int SIGNATURES = 5;
    private static final int TAGS = 4;

    // Fields of a map's entry.
    private static final int KEY = 1;
    private static final int VALUE = 2;

    private static final String VARIABLES = "variables/variables.index";

    /** A signature that TensorFlow runs itself when it loads the model. */
    static final String INITIALISER = "__saved_model_init_op";

    static Path in(Path directory) {
        return directory.resolve(NAME);
    }

    /** Reads the graph with exactly these tags. Throws INVALID_ARGUMENT for no SavedModel, or one without it. */
    static SavedModelFile read(Path directory, Set<String> tags, String model) {
        List<List<String>> others = new ArrayList<>();
        try (InputStream file = Files.newInputStream(in(directory))) {
            CodedInputStream in = CodedInputStream.newInstance(file);
            in.setSizeLimit(Integer.MAX_VALUE);
            for (int field = in.readTag(); field != 0; field = in.readTag()) {
                if (WireFormat.getTagFieldNumber(field) != META_GRAPHS) {
                    in.skipField(field);
                    continue;
                }
                SavedModelFile graph = readGraph(in);
                if (tags.equals(Set.copyOf(graph.tags))) {
                    return graph;
                }
                others.add(graph.tags);
            }
        } catch (IOException e) {
            throw new GatunException(
                    ErrorCode.INVALID_ARGUMENT,
                    "model '" + model + "': cannot read its " + NAME + ": " + IoFailure.reason(e),
                    e);
        }
        throw GatunException.invalidArgument("model '" + model + "': its " + NAME + " has no graph with the tags "
                + new TreeSet<>(tags) + "; the tags of those that it has are " + others);
    }

    private static SavedModelFile readGraph(CodedInputStream in) throws IOException {
        List<String> tags = new ArrayList<>();
        SortedMap<String, SignatureDef> signatures = new TreeMap<>();
        Operations operations = new Operations();
        boolean restores = false;
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(field)) {
                case META_INFO -> Operations.readField(in, TAGS, () -> tags.add(in.readString()));
                case GRAPH -> operations.readGraph(in);
                case SAVER -> restores = isFilled(in);
                case SIGNATURES -> readSignature(in, signatures);
                default -> in.skipField(field);
            }
        }
        in.popLimit(end);
        return new SavedModelFile(tags, signatures, operations, restores);
    }

    Map<String, TensorProto> defaults(String signature) {
        SignatureDef definition = signatures.get(signature);
        return definition == null ? Map.of() : definition.getDefaultsMap();
    }

    private static boolean isFilled(CodedInputStream in) throws IOException {
        int byteSize = in.readRawVarint32();
        in.skipRawBytes(byteSize);
        return byteSize > 0;
    }

    /** Throws INVALID_ARGUMENT when variables' values are missing: the engine would load, and each request fail. */
    void requireVariables(Path directory, String model) {
        if (restores && operations.haveVariables() && !Files.isRegularFile(directory.resolve(VARIABLES))) {
            throw GatunException.invalidArgument("model '" + model + "': its variables are not there, since "
                    + VARIABLES + " is missing beside its " + NAME + "; copy the whole folder of the model");
        }
    }

    private static void readSignature(CodedInputStream in, Map<String, SignatureDef> signatures) throws IOException {
        String name = "";
        SignatureDef.Builder signature = SignatureDef.newBuilder();
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(field)) {
                case KEY -> name = in.readString();
                case VALUE -> in.readMessage(signature, ExtensionRegistryLite.getEmptyRegistry());
                default -> in.skipField(field);
            }
        }
        in.popLimit(end);
        signatures.put(name, signature.build());
    }
}
