/** The operator's settings: records that the command line makes and the server is started with. */
@NullMarked
package gatun.server.settings;

import org.jspecify.annotations.NullMarked;
