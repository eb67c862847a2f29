/** Forests of decision trees, configured as for Triton's FIL backend: XGBoost's and LightGBM's own models. */
@NullMarked
package gatun.backend.trees;

import org.jspecify.annotations.NullMarked;
