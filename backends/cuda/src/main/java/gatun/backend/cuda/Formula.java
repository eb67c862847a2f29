// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.GatunException;

/** An expression, with the parameter that has it and its text there, which errors name. Immutable. */
record Formula(String parameter, String text, Expression expression) {
    /** The number for a run of these sizes. Throws {@link GatunException} INVALID_ARGUMENT when it has none. */
    long value(Sizes sizes) {
        try {
            return expression.value(sizes);
        } catch (ArithmeticException e) {
            throw GatunException.invalidArgument(
                    subject() + " has no result for the tensors of this request: " + e.getMessage());
        }
    }

    /** The number, which must be from {@code least} to {@code most}. Throws INVALID_ARGUMENT for none or another. */
    long value(Sizes sizes, long least, long most) {
        long value = value(sizes);
        if (value < least || value > most) {
            throw GatunException.invalidArgument(
                    subject() + " is " + value + " for the tensors of this request, expected " + least + " to " + most);
        }
        return value;
    }

    private String subject() {
        return "'" + text + "' of the model's parameter '" + parameter + "'";
    }
}
