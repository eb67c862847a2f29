// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonNumber;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.spi.ParameterValue;
import gatun.v2.http.InferResponseBody.OutputForms;

/** A whole request's parameters: those that have a meaning in the protocol, and the rest, which are the backend's. */
final class RequestParameters {
    private static final String RESERVED_PREFIX = "triton_";

    private RequestParameters() {}

    /** Reads the object at hand. Throws GatunException INVALID_ARGUMENT for a wrong type, RESOURCE_EXHAUSTED. */
    static void read(JsonReader json, RequestUsage usage, InferenceRequest request, OutputForms forms) {
        json.enterObject("Unable to parse 'parameters'");
        while (json.nextMember()) {
            usage.addParameter();
            if (json.nameIs("binary_data_output")) {
                forms.binaryByDefault(json.readBoolean("Unable to parse 'binary_data_output'"));
            } else if (json.nameIs("priority")) {
                request.priority(json.readUnsigned("Unable to parse 'priority'"));
            } else if (json.nameIs("timeout")) {
                // A timeout beyond the signed range is the longest possible one.
                long micros = json.readUnsigned("Unable to parse 'timeout'");
                request.timeoutMicros(micros < 0 ? Long.MAX_VALUE : micros);
            } else if (json.nameIs("sequence_id")) {
                readSequenceId(json, request);
            } else if (json.nameIs("sequence_start")) {
                request.sequenceStart(json.readBoolean("Unable to parse 'sequence_start'"));
            } else if (json.nameIs("sequence_end")) {
                request.sequenceEnd(json.readBoolean("Unable to parse 'sequence_end'"));
            } else {
                readCustom(json, json.name(), request);
            }
        }
    }

    private static void readSequenceId(JsonReader json, InferenceRequest request) {
        if (json.peek() == JsonKind.STRING) {
            request.correlationId(json.readString("Unable to parse 'sequence_id'"));
        } else {
            request.correlationId(json.readUnsigned("Unable to parse 'sequence_id'"));
        }
    }

    /** Reads a backend's parameter. Throws INVALID_ARGUMENT for a wrong type, or a name that is the server's own. */
    static void readCustom(JsonReader json, String name, InferenceRequest request) {
        if (name.startsWith(RESERVED_PREFIX)) {
            throw GatunException.invalidArgument(
                    "parameter keys starting with 'triton_' are reserved for Triton usage and"
                            + " should not be specified.");
        }
        ParameterValue value =
                switch (json.peek()) {
                    case STRING -> new ParameterValue.Text(json.readString(""));
                    case BOOLEAN -> new ParameterValue.Bool(json.readBoolean(""));
                    case NUMBER -> number(json.readNumber(""));
                    case OBJECT, ARRAY, NULL ->
                        throw GatunException.invalidArgument("parameter '" + name
                                + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
                };
        request.parameter(name, value);
    }

    private static ParameterValue number(JsonNumber number) {
        return number.fitsSigned64()
                ? new ParameterValue.Int64(number.integerBits())
                : new ParameterValue.Fp64(number.toDouble());
    }
}
