package gatun.backend.repeat;

import gatun.runtime.spi.BackendInstance;
import gatun.runtime.spi.BackendModel;
import gatun.runtime.spi.InstanceSpec;

/** A model that repeats its input; all are alike. */
final class RepeatModel implements BackendModel {
    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new RepeatInstance();
    }
}
