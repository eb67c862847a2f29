// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.Datatype;
import gatun.runtime.InferenceRequest;
import gatun.runtime.RequestedOutput;
import gatun.runtime.limits.RequestUsage;
import gatun.v2.lane.PreparedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads a request for inference without data: names and datatypes of inputs, outputs, parameters, and the names of the
 * regions that tensors may lie in. Shapes and windows come with each request and are skipped. For one thread.
 */
final class PreparedReader implements JsonBody.Members {
    private final InferenceRequest said;
    private final RequestUsage usage;
    private final OutputForms forms = new OutputForms();
    private final List<PreparedRequest.Input> inputs = new ArrayList<>();
    private final List<RequestedOutput> outputs = new ArrayList<>();
    private final List<String> regions = new ArrayList<>();
    private long byteSize;

    /**
     * @param said learns the parameters
     * @param usage counts all of it
     */
    PreparedReader(InferenceRequest said, RequestUsage usage) {
        this.said = said;
        this.usage = usage;
    }

    /** The tensors. */
    PreparedRequest.Definition definition() {
        return new PreparedRequest.Definition(inputs, outputs, regions);
    }

    /** How long the request was, in bytes. */
    long byteSize() {
        return byteSize;
    }

    @Override
    public void member(JsonReader json) {
        if (json.nameIs("inputs")) {
            json.enterArray("Unable to parse 'inputs'");
            while (json.nextElement()) {
                usage.addTensor(inputs.size() + 1, "inputs");
                readInput(json);
            }
        } else if (json.nameIs("outputs")) {
            json.enterArray("Unable to parse 'outputs'");
            while (json.nextElement()) {
                usage.addTensor(outputs.size() + 1, "outputs");
                readOutput(json);
            }
        } else if (json.nameIs("regions")) {
            json.enterArray("Unable to parse 'regions'");
            while (json.nextElement()) {
                usage.addParameter();
                regions.add(json.readString("Unable to parse 'regions'"));
            }
        } else if (json.nameIs("id")) {
            said.id(json.readString("Unable to parse 'id'"));
        } else if (json.nameIs("parameters")) {
            RequestParameters.read(json, usage, said, forms);
        } else {
            json.skipValue();
        }
        byteSize = json.position();
    }

    private void readInput(JsonReader json) {
        Optional<String> name = Optional.empty();
        Optional<Datatype> datatype = Optional.empty();
        json.enterObject("Unable to parse 'inputs'");
        while (json.nextMember()) {
            if (json.nameIs("name")) {
                name = Optional.of(json.readString("Unable to parse 'name'"));
            } else if (json.nameIs("datatype")) {
                datatype = Optional.of(InputReader.readDatatype(json));
            } else {
                json.skipValue();
            }
        }
        inputs.add(new PreparedRequest.Input(
                name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name")),
                datatype.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'datatype'", "datatype"))));
    }

    private void readOutput(JsonReader json) {
        Optional<String> name = Optional.empty();
        int classification = 0;
        json.enterObject("Unable to parse 'outputs'");
        while (json.nextMember()) {
            if (json.nameIs("name")) {
                name = Optional.of(json.readString("Unable to parse 'name'"));
            } else if (json.nameIs("parameters")) {
                classification = readClassification(json);
            } else {
                json.skipValue();
            }
        }
        outputs.add(new RequestedOutput(
                name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name")),
                Optional.empty(),
                classification));
    }

    private int readClassification(JsonReader json) {
        int classification = 0;
        json.enterObject("Unable to parse 'parameters'");
        while (json.nextMember()) {
            usage.addParameter();
            if (json.nameIs("classification")) {
                long count = json.readUnsigned("Unable to set 'classification'");
                classification = count < 0 ? Integer.MAX_VALUE : (int) Math.min(count, Integer.MAX_VALUE);
            } else {
                json.skipValue();
            }
        }
        return classification;
    }
}
