// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A registry of regions on a machine with a GPU, or with what stands in for one. Each test ends with nothing left on
 * it.
 */
abstract class CudaRegionFixture extends RegionFixture {
    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    @BeforeAll
    static void keepContext() {
        CudaDevices devices = CudaDevices.find();
        assumeThat(devices.count()).as(devices.absence()).isPositive();
        // The context stays until the process ends, and is no leak of the first test that needs it.
        gpu().run(() -> {});
    }

    static CudaDevice gpu() {
        return CudaDevices.find().device(0).orElseThrow();
    }

    /** For what only the stand-in can do; skips the test elsewhere. */
    static CudaStandIn standIn() {
        Optional<CudaStandIn> standIn = CudaStandIn.loaded();
        assumeThat(standIn).as("failures can be asked of the stand-in only").isPresent();
        return standIn.get();
    }
}
