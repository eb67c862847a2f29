// SPDX-License-Identifier: Apache-2.0
/** The endpoint of Amazon's SageMaker: one model at {@code /invocations}, or many that come and go at {@code /models}. */
@NullMarked
package gatun.cloud.sagemaker;

import org.jspecify.annotations.NullMarked;
