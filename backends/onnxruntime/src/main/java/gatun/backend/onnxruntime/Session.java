// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** Owns one {@code OrtSession}, optimised for one instance. Closed once, after its last run. */
final class Session implements AutoCloseable {
    private final Engine engine;
    private final MemorySegment handle;
    private final boolean hasPool;

    private Session(Engine engine, MemorySegment handle, boolean hasPool) {
        this.engine = engine;
        this.handle = handle;
        this.hasPool = hasPool;
    }

    /** Opens a model file. Throws {@link gatun.memory.tensor.GatunException} when the engine cannot run it. */
    static Session open(Engine engine, Path file, SessionOptions options) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.createSession(
                    engine.api(), engine.environment(), scratch.allocateFrom(file.toString()), options.handle(), out));
            LiveHandles.sessionOpened();
            Session session = new Session(engine, out.get(ValueLayout.ADDRESS, 0), options.handOverPool());
            session.keepArenaSmall(out);
            return session;
        } catch (NativeException e) {
            throw OnnxErrors.ofLoad(e, file);
        }
    }

    /** Called before the first run: the arena never gives back its first piece, else as large as that run needs. */
    private void keepArenaSmall(MemorySegment out) {
        try {
            engine.check(OrtApi.createAllocator(engine.api(), handle, engine.cpuMemory(), out));
            MemorySegment arena = out.get(ValueLayout.ADDRESS, 0);
            engine.check(OrtApi.allocatorAlloc(engine.api(), arena, 1, out));
            engine.check(OrtApi.allocatorFree(engine.api(), arena, out.get(ValueLayout.ADDRESS, 0)));
            OrtApi.releaseAllocator(engine.api(), arena);
        } catch (NativeException e) {
            close();
            throw e;
        }
    }

    MemorySegment handle() {
        return handle;
    }

    ModelDescription description() {
        return ModelDescription.of(engine, handle);
    }

    @Override
    public void close() {
        OrtApi.releaseSession(engine.api(), handle);
        LiveHandles.sessionReleased();
        if (hasPool) {
            engine.pools().giveBackOwn();
        }
    }
}
