// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.ModelIdentifier;

/**
 * A version of a model.
 *
 * @param model the model
 * @param version in decimal
 */
public record VersionKey(ModelIdentifier model, String version) {}
