// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.OptionalInputs;
import gatun.tensorflow.serving.http.RequestDocument.Member;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Reads the inputs of a predict request, in rows or in columns. For one request, by one thread. */
final class PredictReader implements AutoCloseable {
    private static final String ELEMENT = "Failed to process element: ";
    private static final String OF_INSTANCES = " of 'instances' list. Error: ";

    private final RequestDocument document;
    private final InputTensor[] tensors;
    private final ModelVersion model;
    private final List<EntryTensor> inputs;

    /** Reads {@code inputs} of {@code model} from {@code document}, into buffers of {@code pool}. */
    PredictReader(BufferPool pool, RequestDocument document, ModelVersion model, List<EntryTensor> inputs) {
        this.document = document;
        this.model = model;
        this.inputs = inputs;
        this.tensors = new InputTensor[inputs.size()];
        try {
            for (int i = 0; i < tensors.length; i++) {
                tensors[i] = new InputTensor(pool, document, inputs.get(i).spec());
            }
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    /** Adds the inputs; true for rows. Throws INVALID_ARGUMENT, or UNSUPPORTED for a type without a form in JSON. */
    boolean readInto(InferenceRequest request) {
        Member instances = document.instances();
        Member inputs = document.inputs();
        if (instances.present() && inputs.present()) {
            throw document.failure(
                    "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ");
        }
        if (instances.present()) {
            readRows(instances);
            for (InputTensor tensor : tensors) {
                if (tensor.itemCount() > 0) {
                    tensor.addItems(request);
                }
            }
            return true;
        }
        if (!inputs.present()) {
            throw GatunException.invalidArgument("Missing 'inputs' or 'instances' key");
        }
        readColumns(inputs, request);
        return false;
    }

    private void readRows(Member instances) {
        if (instances.kind() != JsonKind.ARRAY) {
            throw document.failure("Expecting 'instances' to be an list/array");
        }
        if (instances.elementCount() == 0) {
            throw document.failure("No values in 'instances' array");
        }
        JsonReader json = document.reader(instances.position());
        json.enterArray("");
        long count = instances.elementCount();
        boolean named = false;
        for (long row = 0; json.nextElement(); row++) {
            if (row > 0 && !named) {
                long items = tensors[0].readScalarItems(json);
                if (items > 0) {
                    row += items - 1;
                    continue;
                }
            }
            boolean object = Base64Value.isOtherObject(json);
            if (row == 0) {
                named = object;
                if (!named && tensors.length > 1) {
                    throw GatunException.invalidArgument(
                            "instances is a plain list, but expecting list of objects as multiple input tensors"
                                    + " required as per tensorinfo_map");
                }
            }
            if (named && !object) {
                throw GatunException.invalidArgument("Expecting object but got list at item " + row + " of input list");
            }
            if (!named && object) {
                throw GatunException.invalidArgument(
                        "Expecting value/list but got object at item " + row + " of input list");
            }
            if (named) {
                readNamedRow(json, row, count);
            } else {
                readPlainRow(json, row, count);
            }
        }
        requireEnd(json, instances);
    }

    /** Requires that the value ends with its brackets: unread bytes between would be invalid JSON. */
    private static void requireEnd(JsonReader json, Member member) {
        if (json.position() != member.end()) {
            throw GatunException.invalidArgument("JSON Parse error: brackets and braces do not match");
        }
    }

    private void readPlainRow(JsonReader json, long row, long count) {
        try {
            tensors[0].readItem(json, count);
        } catch (GatunException e) {
            throw within(ELEMENT + row + OF_INSTANCES, e);
        }
    }

    private void readNamedRow(JsonReader json, long row, long count) {
        long position = json.position();
        json.enterObject("");
        while (json.nextMember()) {
            int index = indexOf(json);
            if (index < 0) {
                String name = json.name();
                throw GatunException.invalidArgument(ELEMENT + row + " key: " + name + OF_INSTANCES
                        + "INVALID_ARGUMENT: JSON object: does not have named input: " + name);
            }
            InputTensor tensor = tensors[index];
            if (tensor.itemCount() < row) {
                // Left out of the rows before.
                throw otherKeys(row, position);
            }
            try {
                if (tensor.itemCount() == row) {
                    tensor.readItem(json, count);
                } else {
                    tensor.readItemAgain(json);
                }
            } catch (GatunException e) {
                throw within(ELEMENT + row + " key: " + tensor.name() + OF_INSTANCES, e);
            }
        }
        for (InputTensor tensor : tensors) {
            // One that the first row leaves out has no items, and is missing in all others too.
            if (tensor.itemCount() == row && (row > 0 || !isOptional(tensor))) {
                throw otherKeys(row, position);
            }
        }
    }

    private GatunException otherKeys(long row, long position) {
        return GatunException.invalidArgument(ELEMENT + row + " of 'instances' list. JSON object: "
                + document.values().at(position) + " keys must be equal to: " + names());
    }

    private boolean isOptional(InputTensor tensor) {
        return OptionalInputs.of(model, inputs).contains(tensor.name());
    }

    private void readColumns(Member inputs, InferenceRequest request) {
        JsonReader json = document.reader(inputs.position());
        if (!Base64Value.isOtherObject(json)) {
            if (tensors.length > 1) {
                throw GatunException.invalidArgument(
                        "inputs is a plain value/list, but expecting an object as multiple input tensors required as"
                                + " per tensorinfo_map");
            }
            tensors[0].readWhole(json, inputs.elementCount());
            requireEnd(json, inputs);
            tensors[0].addWhole(request);
            return;
        }
        Member[] members = new Member[tensors.length];
        json.enterObject("");
        while (json.nextMember()) {
            int index = indexOf(json);
            if (index >= 0 && members[index] == null) {
                members[index] = Member.passedOver(json);
            } else {
                json.skipValue();
            }
        }
        requireEnd(json, inputs);
        for (int i = 0; i < tensors.length; i++) {
            if (members[i] == null) {
                if (isOptional(tensors[i])) {
                    continue;
                }
                throw GatunException.invalidArgument(
                        "Missing named input: " + tensors[i].name() + " in 'inputs' object.");
            }
            JsonReader value = document.reader(members[i].position());
            tensors[i].readWhole(value, members[i].elementCount());
            requireEnd(value, members[i]);
            tensors[i].addWhole(request);
        }
    }

    /** Which input the member is called as that {@code json} is at; negative for none. */
    private int indexOf(JsonReader json) {
        for (int i = 0; i < tensors.length; i++) {
            if (json.nameIs(tensors[i].name())) {
                return i;
            }
        }
        return -1;
    }

    private String names() {
        return Arrays.stream(tensors).map(InputTensor::name).sorted().collect(Collectors.joining(","));
    }

    /** The failure for an error in a row: the client's mistake, also where the same is unsupported in a column. */
    private static GatunException within(String where, GatunException inner) {
        return switch (inner.code()) {
            case INVALID_ARGUMENT -> GatunException.invalidArgument(where + "INVALID_ARGUMENT: " + inner.getMessage());
            case UNSUPPORTED -> GatunException.invalidArgument(where + "UNIMPLEMENTED: " + inner.getMessage());
            default -> inner;
        };
    }

    @Override
    public void close() {
        for (InputTensor tensor : tensors) {
            if (tensor != null) {
                tensor.close();
            }
        }
    }
}
