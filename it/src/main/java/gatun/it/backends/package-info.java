/**
 * Small backends of the names that the models of Triton's own tests have, so that these tests run against Gatun with
 * {@code --backend-directory}. Each trusts its model's configuration. Never shipped.
 */
@NullMarked
package gatun.it.backends;

import org.jspecify.annotations.NullMarked;
