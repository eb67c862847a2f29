/** Runs forests of decision trees by XGBoost's and LightGBM's C APIs, through Panama. */
module gatun.backend.trees {
    requires static org.jspecify;
    requires com.google.protobuf;
    requires gatun.bindings;
    requires gatun.spi;
    requires org.slf4j;

    provides gatun.spi.Backend with
            gatun.backend.trees.TreesBackend;
}
