// SPDX-License-Identifier: Apache-2.0
/** The endpoint of Google's Vertex AI: one path for predictions, one for health, and redirection to paths of v2. */
@NullMarked
package gatun.cloud.vertexai;

import org.jspecify.annotations.NullMarked;
