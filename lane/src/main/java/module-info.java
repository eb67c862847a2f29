/** The memory that a lane's client and its server share: where everything lies, and how each wakes the other. */
module gatun.lane {
    requires static org.jspecify;
    requires gatun.bindings;
    requires transitive gatun.memory;

    exports gatun.lane;
}
