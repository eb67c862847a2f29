// SPDX-License-Identifier: Apache-2.0
/** {@code gatun init}: lays a loose model out as a model repository, with a configuration that explains itself. */
@NullMarked
package gatun.server.layout;

import org.jspecify.annotations.NullMarked;
