// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.execution.OutputRule.InputRule;
import gatun.spi.CorrelationId;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The texts that say what is wrong with a request. They are a part of the protocol: clients and tests compare them. */
final class RequestErrors {
    private static final String BATCH_NOTE =
            "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to"
                    + " each input shape. If you want to specify the full shape including the batch dim in your input"
                    + " dims config, try setting max_batch_size to zero. See the model configuration docs for more"
                    + " info on max_batch_size.";

    private RequestErrors() {}

    static String prefix(InferenceRequest request) {
        return request.logPrefix();
    }

    /** Throws when an input or output is named twice; that is found before anything else. */
    static void refuseDuplicates(InferenceRequest request) {
        Set<String> names = new HashSet<>();
        for (Tensor input : request.inputs()) {
            if (!names.add(input.spec().name())) {
                throw duplicate(request, "input", input.spec().name());
            }
        }
        names.clear();
        request.outputs().forEach(output -> {
            if (!names.add(output.name())) {
                throw duplicate(request, "output", output.name());
            }
        });
    }

    static GatunException decoupled(String model) {
        return new GatunException(
                ErrorCode.UNSUPPORTED,
                "model '" + model
                        + "' is decoupled: it may give any number of responses, and this request asks for exactly one");
    }

    /** The failure of a backend that wants to run a request again which may run once only. */
    static GatunException runsOnce(String model) {
        return GatunException.invalidArgument("Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while"
                + " the model is not configured to handle such a flag. The backend asks to run a request of model '"
                + model + "' again; add 'iterative_sequence: true' to its 'sequence_batching'");
    }

    static GatunException duplicate(InferenceRequest request, String kind, String tensor) {
        return invalid(request, kind + " '" + tensor + "' already exists in request");
    }

    static GatunException unexpectedInput(String tensor, ModelSignature signature) {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < signature.inputCount(); i++) {
            InputRule rule = signature.input(i);
            Shape shape = signature.leadingDims() > 0 ? rule.dims().prepend(Shape.VARIABLE) : rule.dims();
            expected.add("'" + rule.name() + "' " + rule.datatype().wireName() + " " + shape);
        }
        return GatunException.invalidArgument("unexpected inference input '" + tensor + "' for model '"
                + signature.modelName() + "'; it has " + String.join(", ", expected));
    }

    static GatunException unexpectedOutput(String tensor, InferenceRequest request, String model) {
        return GatunException.invalidArgument("unexpected inference output '" + tensor + "' for model '" + model
                + "'; it has "
                + request.model().outputs().stream()
                        .map(output -> "'" + output.name() + "'")
                        .collect(Collectors.joining(", ")));
    }

    static GatunException wrongInputCount(InferenceRequest request, ModelSignature signature) {
        List<String> given =
                request.inputs().stream().map(input -> input.spec().name()).toList();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < signature.inputCount(); i++) {
            InputRule rule = signature.input(i);
            if (!rule.optional() && !given.contains(rule.name())) {
                missing.add(rule.name());
            }
        }
        int required = signature.requiredInputCount();
        int all = signature.inputCount();
        String expected = required == all
                ? "expected " + all + " inputs"
                : "expected number of inputs between " + required + " and " + all;
        // An empty list of missing inputs lacks its opening bracket, as clients know it.
        return invalid(
                request,
                expected + " but got " + given.size() + " inputs for model '" + signature.modelName()
                        + "'. Got input(s) ["
                        + quoted(given) + "], but missing required input(s) " + (missing.isEmpty() ? "" : "[")
                        + quoted(missing) + "]. Please provide all required input(s).");
    }

    private static String quoted(List<String> names) {
        return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(","));
    }

    static GatunException noBatchDimension(InferenceRequest request, String tensor, String model) {
        return invalid(
                request, "input '" + tensor + "' has no shape but model requires batch dimension for '" + model + "'");
    }

    static GatunException batchSizesDiffer(InferenceRequest request, String tensor, String model) {
        return invalid(request, "input '" + tensor + "' batch size does not match other inputs for '" + model + "'");
    }

    static GatunException batchTooLarge(InferenceRequest request, long got, int maxBatchSize, String model) {
        return invalid(
                request,
                "inference request batch-size must be <= " + maxBatchSize + " for '" + model + "', got " + got
                        + "; send several requests, or raise max_batch_size in the model's configuration");
    }

    /** A request that is too large for the rule by which the operator has requests share runs. */
    static GatunException taskTooLarge(long size, int maxBatchSize) {
        return GatunException.invalidArgument(
                "Task size " + size + " is larger than maximum input batch size " + maxBatchSize);
    }

    /** The refusal when as many runs wait as that rule allows. */
    static GatunException schedulingQueueFull(int waitingRuns) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "The batch scheduling queue to which this task was submitted is full; currently " + waitingRuns
                        + " batches enqueued and max_enqueued_batches is " + waitingRuns);
    }

    static GatunException batchEmpty(InferenceRequest request, String model) {
        return invalid(request, "inference request batch-size must be >= 1 for '" + model + "'");
    }

    static GatunException wrongDatatype(InferenceRequest request, TensorSpec got, InputRule rule, String model) {
        return invalid(
                request,
                "inference input '" + got.name() + "' data-type is '"
                        + got.datatype().wireName() + "', but model '" + model + "' expects '"
                        + rule.datatype().wireName() + "'");
    }

    static GatunException unknownEntryPoint(InferenceRequest request, String model) {
        return invalid(
                request,
                "model '" + model + "' has no entry point '" + request.entryPoint() + "'; it has "
                        + String.join(", ", request.model().entryPoints().keySet()));
    }

    static GatunException unspecifiedDimension(InferenceRequest request, TensorSpec got, String model) {
        return invalid(
                request,
                "All input dimensions should be specified for input '" + got.name() + "' for model '" + model
                        + "', got " + got.shape());
    }

    static GatunException wrongShape(InferenceRequest request, TensorSpec got, Shape dims, ModelSignature signature) {
        boolean batched = signature.leadingDims() > 0;
        Shape expected = batched ? dims.prepend(Shape.VARIABLE) : dims;
        return invalid(
                request,
                "unexpected shape for input '" + got.name() + "' for model '" + signature.modelName() + "'. Expected "
                        + expected + ", got " + got.shape() + ". " + (batched ? BATCH_NOTE : ""));
    }

    static GatunException tooManyElements(InferenceRequest request, TensorSpec got, String model) {
        return invalid(
                request,
                "input '" + got.name() + "' for model '" + model + "' has shape " + got.shape()
                        + ", whose size exceeds 9223372036854775807 bytes");
    }

    static GatunException wrongByteSize(InferenceRequest request, Tensor got, long expected, String model) {
        return invalid(
                request,
                "input byte size mismatch for input '" + got.spec().name() + "' for model '" + model + "'. Expected "
                        + expected + ", got " + got.byteSize());
    }

    static GatunException wrongStrings(
            InferenceRequest request, String tensor, String model, long expectedCount, BytesCodec.Check outcome) {
        String subject = "inference input '" + tensor + "' for model '" + model + "'";
        return invalid(
                request,
                switch (outcome) {
                    case BytesCodec.Check.Complete complete ->
                        throw new AssertionError("nothing is wrong with " + subject + ": " + complete);
                    case BytesCodec.Check.IncompleteLength length ->
                        "incomplete string length indicator for " + subject + ", expecting 4 bytes but only "
                                + length.availableBytes()
                                + " bytes available. Please make sure the string length indicator is in one buffer.";
                    case BytesCodec.Check.IncompleteElement element ->
                        "incomplete string data for " + subject + ", expecting string of length "
                                + element.expectedBytes() + " but only " + element.availableBytes()
                                + " bytes available. Please make sure the string is in one buffer.";
                    case BytesCodec.Check.TooMany many ->
                        "unexpected number of string elements " + many.foundCount() + " for " + subject + ", expecting "
                                + expectedCount;
                    case BytesCodec.Check.TooFew few ->
                        "expected " + expectedCount + " string elements for " + subject + ", got " + few.foundCount();
                });
    }

    /** The refusal of a request that belongs to a sequence which has not started. */
    static GatunException sequenceNotStarted(InferenceRequest request, String model) {
        return GatunException.invalidArgument("inference request for sequence "
                + request.correlationId().map(CorrelationId::toString).orElse("") + " to model '" + model
                + "' must specify the START flag on the first request of the sequence");
    }

    /** The part of the window that the output fills. Throws INVALID_ARGUMENT when it is smaller. */
    static MemorySegment window(String output, RegionLease destination, long byteSize) {
        requireRoom(output, destination, byteSize);
        return destination.target(byteSize);
    }

    /** Throws INVALID_ARGUMENT when the output does not fit into the client's window. */
    static void requireRoom(String output, RegionLease destination, long byteSize) {
        if (byteSize > destination.byteSize()) {
            throw GatunException.invalidArgument("shared memory size specified with the request for output '" + output
                    + "' (" + destination.byteSize() + " bytes) should be at least " + byteSize
                    + " bytes to hold the results");
        }
    }

    private static GatunException invalid(InferenceRequest request, String text) {
        return GatunException.invalidArgument(prefix(request) + text);
    }
}
