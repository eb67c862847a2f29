// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** Who decides which models are loaded. */
public enum ControlMode {
    /** All that the repositories hold are loaded at start, and nothing changes later. */
    NONE,
    /** As the repositories change: what appears is loaded, what changes is loaded anew, what is gone is unloaded. */
    POLL,
    /** The operator: by name at start, and later by requests to load and to unload. */
    EXPLICIT
}
