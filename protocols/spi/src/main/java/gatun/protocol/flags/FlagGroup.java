// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.flags;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Flags of {@code gatun serve} that stand together in its help, in the order in which they are made. They have their
 * defaults until a command line is parsed, and the values of that line then. For one thread.
 */
public class FlagGroup {
    private final List<Flag<?>> flags = new ArrayList<>();

    /** A group without flags. */
    public FlagGroup() {}

    /** The flags. */
    public final List<Flag<?>> flags() {
        return flags;
    }

    /** A flag with a default that the help shows; its {@code names} are separated by blanks. */
    public final <T> Flag<T> flag(String names, FlagType<T> type, T standard, String description) {
        Flag<T> flag = add(names, type, Kind.ONE, description, given -> Objects.requireNonNull(cast(given)));
        flag.setDefault(standard);
        return flag;
    }

    /** A flag that says yes or no, and yes without a value. */
    public final Flag<Boolean> yesOrNo(String name, boolean standard, String description) {
        return flag(name, FlagType.TRUE_FALSE, standard, description);
    }

    /** A flag that takes no value, and says yes where it is given. */
    public final Flag<Boolean> present(String name, String description) {
        return add(name, FlagType.TRUE_FALSE, Kind.PRESENT, description, Boolean.TRUE::equals);
    }

    /** A flag that need not be given. */
    public final <T> Flag<Optional<T>> optional(String names, FlagType<T> type, String description) {
        return add(names, type, Kind.ONE, description, given -> Optional.ofNullable(FlagGroup.<T>cast(given)));
    }

    /** A flag that need not be given, and that no help shows. */
    public final <T> Flag<Optional<T>> hidden(String name, FlagType<T> type) {
        return add(name, type, Kind.HIDDEN, "", given -> Optional.ofNullable(FlagGroup.<T>cast(given)));
    }

    /** A flag that may be given several times. */
    public final <T> Flag<List<T>> several(String names, FlagType<T> type, String description) {
        return add(names, type, Kind.SEVERAL, description, FlagGroup::list);
    }

    /** What is given without the name of a flag, any number of times. */
    public final <T> Flag<List<T>> arguments(String label, FlagType<T> type, String description) {
        return add("", type.labelled(label), Kind.ARGUMENTS, description, FlagGroup::list);
    }

    private <T, V> Flag<V> add(
            String names, FlagType<T> type, Kind kind, String description, Function<@Nullable Object, V> view) {
        Flag<V> flag = new Flag<>(names, type, kind, description, view);
        flags.add(flag);
        return flag;
    }

    private static <T> List<T> list(@Nullable Object given) {
        List<T> values = cast(given);
        return values == null ? List.of() : values;
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T> @Nullable T cast(@Nullable Object given) {
        return (T) given;
    }

    /** How often a flag may be given, and with what. */
    public enum Kind {
        /** Once, with a value. */
        ONE,
        /** Once, with a value, and no help shows it. */
        HIDDEN,
        /** Any number of times, each with a value. */
        SEVERAL,
        /** Without a value. */
        PRESENT,
        /** Values without the name of a flag. */
        ARGUMENTS
    }

    /** One flag of {@code gatun serve}. */
    public static final class Flag<V> {
        private final String names;
        private final FlagType<?> type;
        private final Kind kind;
        private final String description;
        private final Function<@Nullable Object, V> view;
        private @Nullable Object standard;
        private Supplier<? extends @Nullable Object> given = () -> standard;

        private Flag(
                String names, FlagType<?> type, Kind kind, String description, Function<@Nullable Object, V> view) {
            this.names = names;
            this.type = type;
            this.kind = kind;
            this.description = description;
            this.view = view;
        }

        /** The value that was given, or else the default. */
        public V value() {
            return view.apply(given.get());
        }

        /** Its first name. */
        public String name() {
            return names().getFirst();
        }

        /** Its names. */
        public List<String> names() {
            return List.of(names.split(" ", -1));
        }

        /** How its values are written. */
        public FlagType<?> type() {
            return type;
        }

        /** How often it may be given. */
        public Kind kind() {
            return kind;
        }

        /** What the help says of it. */
        public String description() {
            return description;
        }

        /** The default as it is written; empty where there is none. */
        public Optional<String> standard() {
            return Optional.ofNullable(standard).map(this::text);
        }

        private <T> String text(Object value) {
            FlagType<T> writer = FlagGroup.<FlagType<T>>cast(type);
            return Objects.requireNonNull(writer).text().apply(FlagGroup.<T>cast(value));
        }

        /** Changes the default, before a command line is parsed. */
        public void setDefault(Object other) {
            standard = other;
        }

        /** Takes its value from {@code parsed}, which knows that of the command line, from now on. */
        public void readFrom(Supplier<? extends @Nullable Object> parsed) {
            given = parsed;
        }
    }

    /** Flags whose defaults come from the settings that they overlay. */
    public abstract static class OverlayFlags<S> extends FlagGroup {
        /** What holds where no flag says otherwise. */
        protected final S standard;

        /** Flags that overlay {@code standard}. */
        protected OverlayFlags(S standard) {
            this.standard = standard;
        }
    }

    /**
     * Where flags stand in the help.
     *
     * @param title the title above them; flags of several sections with one title stand one after another
     * @param after the title of the section that comes before, where no other has this title; empty for the end
     * @param flags the flags
     */
    public record Section(String title, String after, FlagGroup flags) {}
}
