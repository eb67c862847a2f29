// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Kind;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.TypeConversionException;

/** Flags as picocli parses them. */
final class FlagSpecs {
    private FlagSpecs() {}

    /** Adds the flags of {@code group}, which read their values from {@code command} from now on. */
    static void add(FlagGroup group, CommandSpec command) {
        for (Flag<?> flag : group.flags()) {
            if (flag.kind() == Kind.ARGUMENTS) {
                PositionalParamSpec argument = PositionalParamSpec.builder()
                        .type(List.class)
                        .auxiliaryTypes(flag.type().type())
                        .arity("0..*")
                        .paramLabel(flag.type().label())
                        .converters(reader(flag.type()))
                        .description(flag.description())
                        .build();
                command.addPositional(argument);
                flag.readFrom(argument::getValue);
            } else {
                OptionSpec option = option(flag);
                command.addOption(option);
                flag.readFrom(option::getValue);
            }
        }
    }

    private static OptionSpec option(Flag<?> flag) {
        FlagType<?> type = flag.type();
        OptionSpec.Builder option =
                OptionSpec.builder(flag.names().toArray(String[]::new)).description(flag.description());
        if (flag.kind() == Kind.PRESENT) {
            return option.type(Boolean.class).arity("0").build();
        }
        option.type(type.type())
                .paramLabel(type.label())
                .converters(reader(type))
                .arity(type.bare().isEmpty() ? "1" : "0..1");
        type.bare().ifPresent(option::fallbackValue);
        if (!type.choices().isEmpty()) {
            option.completionCandidates(type.choices());
        }
        flag.standard().ifPresent(option::defaultValue);
        if (flag.kind() == Kind.SEVERAL) {
            option.type(List.class).auxiliaryTypes(type.type());
        }
        return option.hidden(flag.kind() == Kind.HIDDEN).build();
    }

    private static ITypeConverter<?> reader(FlagType<?> type) {
        return text -> read(type, text);
    }

    /** The value that {@code text} says, with picocli's exception for one that is wrong. */
    static <T> T read(FlagType<T> type, String text) {
        return converted(() -> type.read(text));
    }

    /** As {@link FlagType#number}, with picocli's exception for a text that is none. */
    static long number(String text, long least, long most, String expected) {
        return converted(() -> FlagType.number(text, least, most, expected));
    }

    private static <T> T converted(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (FlagException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
