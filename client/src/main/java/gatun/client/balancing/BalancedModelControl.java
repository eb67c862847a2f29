// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RepositoryModel;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import java.util.List;
import java.util.Map;

/**
 * The models of several servers: one of them is asked, and each is told. Where one fails to load or unload, those before
 * it have done so. Safe for any thread.
 */
record BalancedModelControl(BalancedClient client) implements ModelControl {
    @Override
    public boolean ready(String model, String version) {
        return client.ask(each -> each.models().ready(model, version));
    }

    @Override
    public ModelMetadata metadata(String model, String version) {
        return client.ask(each -> each.models().metadata(model, version));
    }

    @Override
    public ModelConfig config(String model, String version) {
        return client.ask(each -> each.models().config(model, version));
    }

    @Override
    public List<ModelStatistics> statistics(String model, String version) {
        return client.ask(each -> each.models().statistics(model, version));
    }

    @Override
    public List<RepositoryModel> index(boolean onlyReady) {
        return client.ask(each -> each.models().index(onlyReady));
    }

    @Override
    public void load(String model, String config, Map<String, byte[]> files) {
        client.clients().forEach(each -> each.models().load(model, config, files));
    }

    @Override
    public void unload(String model, boolean dependents) {
        client.clients().forEach(each -> each.models().unload(model, dependents));
    }
}
