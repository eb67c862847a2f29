// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;

/** The number of threads that a run may use, at least 1, and the same with its reason for people. */
record RunThreads(int count, String text) {
    /** The configured number, or a share of the cores, so that all instances together have no more threads. */
    static RunThreads of(Settings settings, ModelConfig config, int cores) {
        if (settings.threads().isPresent()) {
            int asked = settings.threads().getAsInt();
            return new RunThreads(asked, "threads of a run: " + asked + ", as cpu_nthread says");
        }
        int instances = Math.max(
                1,
                config.getInstanceGroupList().stream()
                        .mapToInt(ModelInstanceGroup::getCount)
                        .sum());
        int share = Math.max(1, cores / instances);
        return new RunThreads(
                share,
                "threads of a run: " + share + ", of " + cores + (cores == 1 ? " core for " : " cores for ") + instances
                        + (instances == 1 ? " instance" : " instances"));
    }
}
