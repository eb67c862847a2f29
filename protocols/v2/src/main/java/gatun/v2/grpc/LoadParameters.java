// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.ModelRepositoryParameter.ParameterChoiceCase;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Reads the parameters of requests that load and unload models. */
final class LoadParameters {
    private static final String CONFIG = "config";
    private static final String FILE_PREFIX = "file:";
    private static final String UNLOAD_DEPENDENTS = "unload_dependents";

    private LoadParameters() {}

    /** What a load request overrides. Throws INVALID_ARGUMENT for a parameter that is unknown or of the wrong type. */
    static ModelOverride override(Map<String, ModelRepositoryParameter> parameters) {
        String config = "";
        Map<String, MemorySegment> files = new LinkedHashMap<>();
        // In an order of its own, so that of several mistakes always the same is told.
        for (Map.Entry<String, ModelRepositoryParameter> parameter : new TreeMap<>(parameters).entrySet()) {
            String name = parameter.getKey();
            ModelRepositoryParameter value = parameter.getValue();
            if (name.equals(CONFIG)) {
                requireType(value, ParameterChoiceCase.STRING_PARAM, name, "string_param");
                config = value.getStringParam();
            } else if (name.startsWith(FILE_PREFIX)) {
                requireType(value, ParameterChoiceCase.BYTES_PARAM, name, "bytes_param");
                files.put(
                        name.substring(FILE_PREFIX.length()),
                        MemorySegment.ofBuffer(value.getBytesParam().asReadOnlyByteBuffer()));
            } else {
                throw GatunException.invalidArgument("unrecognized load parameter '" + name + "'.");
            }
        }
        return new ModelOverride(config, files);
    }

    private static void requireType(
            ModelRepositoryParameter value, ParameterChoiceCase type, String name, String typeName) {
        if (value.getParameterChoiceCase() != type) {
            throw GatunException.invalidArgument(
                    "invalid value type for load parameter '" + name + "', expected " + typeName + ".");
        }
    }

    /** Whether an unload request wants dependents to go, too. Throws INVALID_ARGUMENT for a wrong type. */
    static boolean unloadDependents(Map<String, ModelRepositoryParameter> parameters) {
        ModelRepositoryParameter value =
                parameters.getOrDefault(UNLOAD_DEPENDENTS, ModelRepositoryParameter.getDefaultInstance());
        if (parameters.containsKey(UNLOAD_DEPENDENTS)
                && value.getParameterChoiceCase() != ParameterChoiceCase.BOOL_PARAM) {
            throw GatunException.invalidArgument(
                    "invalid value type for 'unload_dependents' parameter, expected bool_param.");
        }
        return value.getBoolParam();
    }
}
