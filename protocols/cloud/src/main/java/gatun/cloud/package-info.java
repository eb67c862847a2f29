// SPDX-License-Identifier: Apache-2.0
/** The conventions that Vertex AI and SageMaker share: content types that tell where the JSON of a request ends. */
@NullMarked
package gatun.cloud;

import org.jspecify.annotations.NullMarked;
