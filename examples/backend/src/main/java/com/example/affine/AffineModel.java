// SPDX-License-Identifier: Apache-2.0
package com.example.affine;

import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;

/** The state that all instances of a model share: here two numbers, in a real engine the graph and the weights. */
record AffineModel(float scale, float offset) implements BackendModel {
    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        if (spec.device().kind() != Device.Kind.CPU) {
            throw new IllegalArgumentException(
                    "instance " + spec.name() + " is for " + spec.device() + ", expected the CPU");
        }
        return new AffineInstance(scale, offset);
    }

    @Override
    public void close() {
        // Two numbers need no closing.
    }
}
