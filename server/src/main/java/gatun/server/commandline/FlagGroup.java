// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Flags of {@code gatun serve} that stand together in its help, in the order in which they are made. Their values are
 * there once picocli has parsed a command line; what a flag has as its default comes from the settings that the group
 * overlays. For one thread.
 */
abstract class FlagGroup {
    private final CommandSpec flags = CommandSpec.create();

    /** The flags, for the command that takes them. */
    final CommandSpec flags() {
        return flags;
    }

    /**
     * A flag with a default that the help shows.
     *
     * @param names its names, separated by blanks
     * @param standard the default
     */
    final <T> Flag<T> flag(String names, FlagType<T> type, T standard, String description) {
        return add(option(names, type).defaultValue(type.text().apply(standard)).description(description));
    }

    /** A flag that says yes or no, and yes without a value. */
    final Flag<Boolean> yesOrNo(String name, boolean standard, String description) {
        return flag(name, FlagType.TRUE_FALSE, standard, description);
    }

    /** A flag that takes no value, and says yes where it is given. */
    final Flag<Boolean> present(String name, String description) {
        Flag<Optional<Boolean>> flag =
                optional(OptionSpec.builder(name).type(Boolean.class).arity("0").description(description));
        return new Flag<>(name, () -> flag.value().orElse(false));
    }

    /** A flag that need not be given. */
    final <T> Flag<Optional<T>> optional(String names, FlagType<T> type, String description) {
        return optional(option(names, type).description(description));
    }

    /** A flag that need not be given, and that no help shows. */
    final <T> Flag<Optional<T>> hidden(String name, FlagType<T> type) {
        return optional(option(name, type).hidden(true));
    }

    /** A flag that may be given several times. */
    final <T> Flag<List<T>> several(String names, FlagType<T> type, String description) {
        Flag<Optional<List<T>>> flag = optional(
                option(names, type).type(List.class).auxiliaryTypes(type.type()).description(description));
        return new Flag<>(flag.name(), () -> flag.value().orElse(List.of()));
    }

    /** What is given without the name of a flag, any number of times. */
    final <T> Flag<List<T>> arguments(String label, FlagType<T> type, String description) {
        ITypeConverter<?> reader = type.reader()::apply;
        PositionalParamSpec argument = PositionalParamSpec.builder()
                .type(List.class)
                .auxiliaryTypes(type.type())
                .arity("0..*")
                .paramLabel(label)
                .converters(reader)
                .description(description)
                .build();
        flags.addPositional(argument);
        return new Flag<>(label, () -> {
            List<T> given = argument.getValue();
            return given == null ? List.of() : given;
        });
    }

    private static OptionSpec.Builder option(String names, FlagType<?> type) {
        ITypeConverter<?> reader = type.reader()::apply;
        OptionSpec.Builder option = OptionSpec.builder(names.split(" ", -1))
                .type(type.type())
                .paramLabel(type.label())
                .converters(reader)
                .arity(type.bare().isEmpty() ? "1" : "0..1");
        type.bare().ifPresent(option::fallbackValue);
        if (!type.choices().isEmpty()) {
            option.completionCandidates(type.choices());
        }
        return option;
    }

    private <T> Flag<Optional<T>> optional(OptionSpec.Builder builder) {
        Flag<T> flag = add(builder);
        return new Flag<>(flag.name(), () -> Optional.ofNullable(flag.value()));
    }

    private <T> Flag<T> add(OptionSpec.Builder builder) {
        OptionSpec option = builder.build();
        flags.addOption(option);
        return new Flag<>(option.names()[0], option::getValue);
    }

    /**
     * One flag of {@code gatun serve}.
     *
     * @param name its first name
     * @param reading the value that it has once the command line is parsed
     */
    record Flag<T>(String name, Supplier<T> reading) {
        /** The value that was given, or else the default. */
        T value() {
            return reading.get();
        }
    }

    /** Flags whose defaults come from the settings that they overlay. */
    abstract static class OverlayFlags<S> extends FlagGroup {
        /** What holds where no flag says otherwise. */
        final S standard;

        OverlayFlags(S standard) {
            this.standard = standard;
        }
    }
}
