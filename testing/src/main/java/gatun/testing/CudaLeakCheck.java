// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.CudaStandIn.Count;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves more on a GPU than it found: allocations, pinned host memory, mappings of other processes'
 * memory, streams, events, modules. Contexts stay for the process and are not looked at. Forgets failures that the test
 * asked for. Where the stand-in is not the driver, it does nothing.
 *
 * <p>Register it with {@code @RegisterExtension} before the resources that the test itself opens and closes: it then
 * looks last.
 */
public final class CudaLeakCheck implements BeforeEachCallback, AfterEachCallback {
    private Map<Count, Long> before = Map.of();

    /** Made once for each test, or shared by tests that run one after the other. */
    public CudaLeakCheck() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        CudaStandIn.loaded().ifPresent(standIn -> before = held(standIn));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        CudaStandIn.loaded().ifPresent(standIn -> {
            standIn.reset();
            assertThat(held(standIn)).as("what is held on GPUs after the test").isEqualTo(before);
        });
    }

    private static Map<Count, Long> held(CudaStandIn standIn) {
        Map<Count, Long> held = standIn.held();
        held.remove(Count.CONTEXTS);
        return held;
    }
}
