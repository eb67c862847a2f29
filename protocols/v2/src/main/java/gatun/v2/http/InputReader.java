// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.memory.threads.CooperativeCopy;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads a request's inputs: JSON, bytes beside it, or windows of shared memory. Not thread-safe. */
final class InputReader {
    /** Stands for a data array that has not been met, and for a size that was not given. */
    private static final int NONE = -1;

    private static final int USUAL_RANK = 4;
    private static final int KEPT_SPECS = 4;

    /** An input of a longer name is not kept: a connection that waits must not hold what its client chose to send. */
    private static final int KEPT_NAME_LENGTH = 64;

    private static final String INPUTS = "Unable to parse 'inputs'";
    private static final String NAME = "Unable to parse 'name'";
    private static final String DATATYPE = "Unable to parse 'datatype'";
    private static final String SHAPE = "Unable to parse 'shape'";
    private static final List<Datatype> DATATYPES = List.of(Datatype.values());

    /** Borrows windows of regions for the request, which holds them. */
    interface Regions {
        RegionLease borrow(String region, long offset, long byteSize, RegionRegistry.Access access);
    }

    private final BufferPool buffers;
    private final Regions regions;
    private final InferBodies.Body body;
    private final JsonReader json;
    private final long maxInputByteSize;

    // The request at hand.
    private @Nullable InferenceRequest request;
    private @Nullable RequestUsage usage;

    /** Null until elements come in JSON. */
    private @Nullable JsonElements elements;

    /** Where the bytes of the next input that has any begin in the body. */
    private long binaryAt;

    private long binaryEnd;

    // The input at hand.
    private @Nullable String name;
    private @Nullable Datatype datatype;
    /** How many of {@link #dims} are its shape; {@link #NONE} when that has not been met. */
    private int rank;

    private @Nullable String region;
    private long regionOffset;
    private long regionByteSize;
    private boolean hasBinarySize;
    private long binaryByteSize;
    private boolean hasParameters;
    private boolean hasData;
    /** Where a data array that could not be read yet begins; {@link #NONE} when there is none. */
    private long dataAt;

    private @Nullable MemorySegment dataBytes;
    private long[] dims = new long[USUAL_RANK];

    /** How many inputs of the request were read before this one. */
    private int index;

    /** What the last inputs at the same places were, which those of most requests are again. */
    private final @Nullable TensorSpec[] lastSpecs = new TensorSpec[KEPT_SPECS];

    /** Reads from {@code json}, which is part of {@code body}. */
    InputReader(BufferPool buffers, Regions regions, InferBodies.Body body, JsonReader json, long maxInputByteSize) {
        this.buffers = buffers;
        this.regions = regions;
        this.body = body;
        this.json = json;
        this.maxInputByteSize = maxInputByteSize;
    }

    /** Reads the inputs of {@code next} from now on, whose body is there, and counts them in {@code counted}. */
    void begin(InferenceRequest next, RequestUsage counted) {
        request = next;
        usage = counted;
        binaryAt = body.binaryOffset();
        binaryEnd = binaryAt + body.binaryByteSize();
    }

    void end() {
        request = null;
        usage = null;
        elements = null;
        clearInput();
        if (dims.length > USUAL_RANK) {
            dims = new long[USUAL_RANK];
        }
    }

    private InferenceRequest request() {
        return Objects.requireNonNull(request, "no request was begun");
    }

    private RequestUsage usage() {
        return Objects.requireNonNull(usage, "no request was begun");
    }

    void readAll() {
        json.enterArray(INPUTS);
        int count = 0;
        while (json.nextElement()) {
            index = count;
            usage().addTensor(++count, "inputs");
            read();
        }
    }

    /** Throws GatunException INVALID_ARGUMENT unless every byte beside the JSON belongs to an input. */
    void checkAllBytesUsed() {
        if (binaryAt != binaryEnd) {
            throw GatunException.invalidArgument("unexpected additional input data for model '"
                    + request().model().name() + "'");
        }
    }

    private void clearInput() {
        name = null;
        datatype = null;
        rank = NONE;
        region = null;
        regionOffset = 0;
        regionByteSize = 0;
        hasBinarySize = false;
        hasParameters = false;
        hasData = false;
        dataAt = NONE;
        dataBytes = null;
    }

    private void read() {
        clearInput();
        List<TensorSpec> modelInputs = request().model().inputs();
        json.enterObject(INPUTS);
        while (json.nextMember()) {
            if (name == null && json.nameIs("name")) {
                name = json.readString(NAME, modelInputs, TensorSpec::name);
            } else if (datatype == null && json.nameIs("datatype")) {
                datatype = readDatatype(json);
            } else if (rank == NONE && json.nameIs("shape")) {
                rank = readShape();
            } else if (!hasParameters && json.nameIs("parameters")) {
                hasParameters = true;
                readParameters();
            } else if (!hasData && json.nameIs("data")) {
                hasData = true;
                meetData();
            } else {
                json.skipValue();
            }
        }
        finish();
    }

    static Datatype readDatatype(JsonReader json) {
        return Datatype.of(json.readString(DATATYPE, DATATYPES, Datatype::wireName));
    }

    private int readShape() {
        int count = 0;
        json.enterArray(SHAPE);
        while (json.nextElement()) {
            usage().addDimension();
            if (count == dims.length) {
                dims = Arrays.copyOf(dims, 2 * count);
            }
            // The protocol's reference implementation, and tests of it, have this code for a negative dimension.
            dims[count++] = json.readUnsigned(SHAPE, ErrorCode.INTERNAL);
        }
        return count;
    }

    private void readParameters() {
        json.enterObject("Unable to parse 'parameters'");
        while (json.nextMember()) {
            usage().addParameter();
            if (json.nameIs("binary_data_size")) {
                hasBinarySize = true;
                binaryByteSize = json.readUnsigned("Unable to parse 'binary_data_size'");
            } else if (json.nameIs("shared_memory_region")) {
                region = json.readString("Unable to parse 'shared_memory_region'");
            } else if (json.nameIs("shared_memory_offset")) {
                regionOffset = json.readUnsigned("Unable to parse 'shared_memory_offset'");
            } else if (json.nameIs("shared_memory_byte_size")) {
                regionByteSize = json.readUnsigned("Unable to parse 'shared_memory_byte_size'");
            } else {
                json.skipValue();
            }
        }
    }

    /** Reads the data array at once where name, datatype and shape came before it, as they mostly do. */
    private void meetData() {
        if (name != null && datatype != null && rank != NONE) {
            dataBytes = readData(spec());
        } else {
            dataAt = json.position();
            json.skipValue();
        }
    }

    private void finish() {
        TensorSpec spec = spec();
        checkOneSource();
        if (region != null) {
            addWindow(spec, region);
        } else if (hasBinarySize) {
            addBinary(spec);
        } else {
            if (dataAt != NONE) {
                long after = json.position();
                json.position(dataAt);
                dataBytes = readData(spec);
                json.position(after);
            }
            if (dataBytes != null) {
                request().addInput(new Tensor(spec, dataBytes));
            }
        }
    }

    private TensorSpec spec() {
        if (name == null) {
            throw JsonFailure.missingMember(NAME, "name");
        }
        if (datatype == null) {
            throw JsonFailure.missingMember(DATATYPE, "datatype");
        }
        if (rank == NONE) {
            throw JsonFailure.missingMember(SHAPE, "shape");
        }
        TensorSpec known = index < KEPT_SPECS ? lastSpecs[index] : null;
        if (known != null && known.datatype() == datatype && known.name().equals(name) && hasDims(known.shape())) {
            return known;
        }
        TensorSpec made = new TensorSpec(name, datatype, Shape.ofFirst(dims, rank));
        if (index < KEPT_SPECS && rank <= USUAL_RANK && name.length() <= KEPT_NAME_LENGTH) {
            lastSpecs[index] = made;
        }
        return made;
    }

    private boolean hasDims(Shape shape) {
        boolean same = shape.rank() == rank;
        for (int i = 0; same && i < rank; i++) {
            same = shape.dim(i) == dims[i];
        }
        return same;
    }

    private void checkOneSource() {
        int sources = (hasData ? 1 : 0) + (hasBinarySize ? 1 : 0) + (region != null ? 1 : 0);
        if (sources == 1) {
            return;
        }
        String set = (hasData ? " 'data'" : "")
                + (hasBinarySize ? " 'binary_data_size'" : "")
                + (region != null ? " 'shared_memory_region'" : "");
        throw GatunException.invalidArgument(
                "Input must set only one of the following fields: 'data', 'binary_data_size'"
                        + " in 'parameters', 'shared_memory_region' in 'parameters'. But "
                        + (sources == 0 ? "no field is set" : "set" + set));
    }

    private void addWindow(TensorSpec spec, String regionName) {
        RegionLease lease = regions.borrow(
                regionName, regionOffset, regionByteSize, RegionRegistry.Access.forInput(spec.datatype()));
        request().addInput(Tensor.inRegion(spec, lease));
    }

    private void addBinary(TensorSpec spec) {
        long available = binaryEnd - binaryAt;
        if (Long.compareUnsigned(binaryByteSize, available) > 0) {
            throw GatunException.invalidArgument("unexpected size for input '" + spec.name() + "', expecting "
                    + Long.toUnsignedString(binaryByteSize - available) + " additional bytes for model '"
                    + request().model().name() + "'");
        }
        MemorySegment bytes = body.segment().asSlice(binaryAt, binaryByteSize);
        binaryAt += binaryByteSize;
        if (!InferBodies.isAligned(spec.datatype(), bytes)) {
            Buffer aligned = buffers.take(binaryByteSize);
            request().hold(aligned);
            CooperativeCopy.copy(bytes, aligned.segment());
            bytes = aligned.segment();
        }
        request().addInput(new Tensor(spec, bytes));
    }

    private MemorySegment readData(TensorSpec spec) {
        JsonElements.checkHasJsonForm(spec);
        long count = elementCount(spec);
        if (count == 0) {
            json.skipValue();
            return body.segment().asSlice(0, 0);
        }
        if (elements == null) {
            elements = new JsonElements(buffers, request(), json, maxInputByteSize);
        }
        return elements.readArray(spec, count);
    }

    private static long elementCount(TensorSpec spec) {
        Shape shape = spec.shape();
        for (int i = 0; i < shape.rank(); i++) {
            if (shape.dim(i) < 0) {
                throw invalidShape(spec, "contains one or more invalid dimensions");
            }
        }
        long count = shape.elementCount();
        if (count < 0) {
            throw invalidShape(spec, "causes total element count to exceed maximum size of 9223372036854775807");
        }
        return count;
    }

    private static GatunException invalidShape(TensorSpec spec, String what) {
        return GatunException.invalidArgument(
                "invalid shape for input '" + spec.name() + "': shape " + spec.shape() + " " + what);
    }
}
