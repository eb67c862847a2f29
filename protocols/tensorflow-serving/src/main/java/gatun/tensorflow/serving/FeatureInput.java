// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Datatypes;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.util.Arrays;
import java.util.List;

/**
 * An input filled from the feature of its name; {@code dims} are one example's, of which one may be open, and {@code
 * optional} means that all examples together may lack it.
 */
record FeatureInput(String name, Datatype datatype, Shape dims, boolean optional) {
    /** A model's inputs. Throws INVALID_ARGUMENT, beginning with {@code parameter}, where features cannot fill one. */
    static List<FeatureInput> of(ModelConfig config, String parameter) {
        return config.getInputList().stream()
                .map(input -> of(config, input, parameter))
                .toList();
    }

    private static FeatureInput of(ModelConfig config, ModelInput input, String parameter) {
        String subject = parameter + ": examples cannot fill the input '" + input.getName() + "'";
        long[] dims = input.getDimsList().stream().mapToLong(Long::longValue).toArray();
        if (config.getMaxBatchSize() == 0) {
            if (dims.length == 0 || dims[0] != Shape.VARIABLE) {
                throw GatunException.invalidArgument(subject
                        + ", since the model has no batch dimension; set max_batch_size, or leave the first of its dims"
                        + " open (-1)");
            }
            dims = Arrays.copyOfRange(dims, 1, dims.length);
        }
        if (Arrays.stream(dims).filter(dim -> dim == Shape.VARIABLE).count() > 1) {
            throw GatunException.invalidArgument(subject + ", since more than one dimension of an example is open in "
                    + input.getDimsList() + "; expected at most one");
        }
        Datatype datatype = Datatypes.of(input.getDataType());
        if (datatype == Datatype.FP16 || datatype == Datatype.BF16 || datatype == Datatype.INVALID) {
            throw GatunException.invalidArgument(subject + " of " + input.getDataType()
                    + "; expected TYPE_FP32, TYPE_FP64, integers, TYPE_BOOL or" + " TYPE_STRING");
        }
        return new FeatureInput(input.getName(), datatype, Shape.of(dims), input.getOptional());
    }
}
