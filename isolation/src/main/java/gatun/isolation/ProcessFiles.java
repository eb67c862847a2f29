// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.engine.EngineMain;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.SharedFile;
import gatun.workers.InheritedFiles;
import gatun.workers.SharedMemoryChannels;
import gatun.workers.WorkerMemory;
import java.util.Optional;

/** Memory that server and process both map. Owns tensors and mailboxes, but not the file of the server's inputs. */
record ProcessFiles(WorkerMemory memory, SharedMemoryChannels mailboxes, Optional<SharedFile> server)
        implements AutoCloseable {
    /** Makes them, for so many bytes of inputs, and as many of outputs. Throws when the system refuses. */
    static ProcessFiles create(String name, long tensorMemory, Optional<SharedFile> server) {
        WorkerMemory memory = new WorkerMemory(name, tensorMemory, BufferPool.newFile("gatun-responses", tensorMemory));
        try {
            return new ProcessFiles(memory, SharedMemoryChannels.create(), server);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** What the process has open, in the order in which it expects them. */
    InheritedFiles inherited() {
        InheritedFiles inherited = new InheritedFiles()
                .reopen(EngineMain.FRAMES_IN)
                .reopen(EngineMain.FRAMES_OUT)
                .add(memory.requestFile())
                .add(memory.responseFile())
                .add(mailboxes.file());
        server.ifPresent(inherited::addToRead);
        return inherited;
    }

    /** For when the process has ended. Responses that are still sent keep what they lie in. */
    @Override
    public void close() {
        mailboxes.close();
        memory.close();
    }
}
