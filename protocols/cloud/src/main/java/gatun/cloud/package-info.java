// SPDX-License-Identifier: Apache-2.0
/** What Vertex AI and SageMaker share: requests rewritten for v2, and content types that tell where their JSON ends. */
@NullMarked
package gatun.cloud;

import org.jspecify.annotations.NullMarked;
