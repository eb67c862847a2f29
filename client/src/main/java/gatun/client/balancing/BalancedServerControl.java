// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ServerControl;
import gatun.client.ServerMetadata;

/** Several servers as one: it lives and is ready while one of them is. Safe for any thread. */
record BalancedServerControl(BalancedClient client) implements ServerControl {
    @Override
    public boolean live() {
        return client.clients().stream().anyMatch(each -> each.server().live());
    }

    @Override
    public boolean ready() {
        return client.clients().stream().anyMatch(each -> each.server().ready());
    }

    @Override
    public ServerMetadata metadata() {
        return client.ask(each -> each.server().metadata());
    }
}
