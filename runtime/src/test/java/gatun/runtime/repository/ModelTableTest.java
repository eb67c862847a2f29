// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling;
import gatun.wire.inference.ModelEnsembling.Step;
import gatun.wire.inference.ModelRepositoryAgents;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which model a name means, with namespaces and without. */
class ModelTableTest {
    private static final ModelIdentifier FIRST = new ModelIdentifier("/a", "m");
    private static final ModelIdentifier SECOND = new ModelIdentifier("/b", "m");
    private static final ModelIdentifier THIRD = new ModelIdentifier("/c", "m");

    private final ModelTable table = new ModelTable(true, new ChangeListeners());

    /** An entry that is to be served, and asks the model {@code asked} unless that is empty. */
    private ModelEntry serve(ModelIdentifier model, String asked) {
        ModelConfig.Builder config = ModelConfig.newBuilder().setName(model.name());
        if (!asked.isEmpty()) {
            config.setEnsembleScheduling(
                    ModelEnsembling.newBuilder().addStep(Step.newBuilder().setModelName(asked)));
        }
        ModificationStamp stamp = new ModificationStamp(0, 0, 0);
        ModelEntry entry = table.entry(model);
        entry.loaded(Optional.of(new ModelSource(
                ModelDirectory.inRepository(model, Path.of(model.namespace(), model.name())),
                config.build(),
                new TreeSet<>(),
                new ModelSource.Stamps(new TreeMap<>(), stamp, stamp),
                false,
                Optional.empty(),
                ModelChecksums.of(ModelRepositoryAgents.getDefaultInstance(), Path.of("")))));
        return entry;
    }

    private void assertRefused(String name, ErrorCode code, String text) {
        assertThatThrownBy(() -> table.resolve(name))
                .isInstanceOfSatisfying(
                        GatunException.class,
                        e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    @Test
    void shouldResolveNamesThatAreUnique() {
        ModelEntry first = serve(FIRST, "");
        table.entry(SECOND);

        assertThat(table.resolve("m")).as("the other one is not to be served").isSameAs(first);
        assertThat(table.entry(FIRST)).isSameAs(first);
        assertThat(table.find(THIRD)).isEmpty();
    }

    @Test
    void shouldRefuseNamesThatAreAmbiguousUnknownOrUnloaded() {
        serve(FIRST, "");
        serve(SECOND, "");
        table.entry(new ModelIdentifier("/a", "unloaded"));

        assertRefused(
                "m", ErrorCode.INVALID_ARGUMENT, "There are 2 identifiers of model 'm' in global map, model namespace");
        assertRefused("absent", ErrorCode.INVALID_ARGUMENT, "Request for unknown model: 'absent' is not found");
        assertRefused("unloaded", ErrorCode.NOT_FOUND, "Identifier of model 'unloaded' is not found in global map");
    }

    @Test
    void shouldPreferTheOwnNamespaceAndElseTakeTheOnlyOne() {
        ModelEntry first = serve(FIRST, "");
        assertThat(table.member("/a", "m")).isSameAs(first);
        assertThat(table.member("/z", "m")).isSameAs(first);

        ModelEntry second = serve(SECOND, "");
        serve(THIRD, "");
        assertThat(table.member("/b", "m")).isSameAs(second);
        assertThat(table.member("/z", "m")).as("three others").isNull();
    }

    @Test
    void shouldTellWhoAsksAModelAndWhoOnlyItsName() {
        ModelEntry first = serve(FIRST, "");
        ModelEntry second = serve(SECOND, "");
        ModelEntry user = serve(new ModelIdentifier("/a", "ensemble"), "m");

        assertThat(table.dependents(first)).containsExactly(user);
        assertThat(table.dependents(second)).isEmpty();
        assertThat(table.asking("m")).containsExactly(user);
    }

    @Test
    void shouldForgetOneOfSeveralModelsOfAName() {
        ModelEntry first = serve(FIRST, "");
        ModelEntry second = serve(SECOND, "");

        table.removeUnused(first);

        assertThat(table.named("m")).containsExactly(second);
        table.removeUnused(second);
        assertThat(table.size()).isZero();
    }
}
