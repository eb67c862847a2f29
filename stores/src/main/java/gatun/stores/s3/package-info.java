/** Amazon S3 and what speaks its protocol. */
@NullMarked
package gatun.stores.s3;

import org.jspecify.annotations.NullMarked;
