/**
 * Model repositories that lie in object stores or archives: fetched into a cache on disk, from which the server loads
 * models as from any folder. Knows nothing of the server.
 */
module gatun.stores {
    requires static org.jspecify;
    requires com.fasterxml.jackson.core;
    requires java.net.http;
    requires java.xml;
    requires org.slf4j;

    exports gatun.stores.cache;
    exports gatun.stores.location;
    exports gatun.stores.mirror;
}
