// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.RawHttp;
import gatun.it.harness.SimpleModel;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.RingEntry;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.memory.regions.SharedMemoryObject;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

/** A client of a lane that writes what a test wants, right or wrong. For one thread. */
public final class RawLane implements AutoCloseable {
    /** Room for a few small tensors. */
    static final LaneGeometry SMALL = new LaneGeometry(4, 8, 4096);

    /** A request to the model {@code simple}, to prepare. */
    static final String SIMPLE = "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"},"
            + "{\"name\":\"INPUT1\",\"datatype\":\"INT32\"}],"
            + "\"outputs\":[{\"name\":\"OUTPUT0\"},{\"name\":\"OUTPUT1\"}]}";

    final LaneGeometry geometry;
    final LaneMemory memory;
    private final SharedMemoryObject object;
    private final RawHttp connection;
    private final String header;
    private String name = "";
    private int turn;

    private RawLane(LaneGeometry geometry, SharedMemoryObject object, RawHttp connection, String header) {
        this.geometry = geometry;
        this.object = object;
        this.connection = connection;
        this.header = header;
        this.memory = new LaneMemory(object.segment(), geometry);
    }

    /** Opens a lane over a Unix socket. */
    static RawLane open(Path socket) throws IOException {
        return open(socket, SMALL, "");
    }

    /** Opens a lane of other geometry; {@code header} is sent with each control request, with its line end. */
    public static RawLane open(Path socket, LaneGeometry geometry, String header) throws IOException {
        RawLane lane = new RawLane(
                geometry,
                SharedMemoryObject.sealed(geometry.byteSize()),
                RawHttp.connect(UnixDomainSocketAddress.of(socket)),
                header);
        try {
            lane.name = lane.post("200", "/v2/lanes", lane.opening()).replaceAll(".*\"lane\":\"([^\"]+)\".*", "$1");
            return lane;
        } catch (Throwable t) {
            lane.close();
            throw t;
        }
    }

    /** The body that opens a lane in this one's memory. */
    String opening() {
        return "{\"key\":\"" + object.key() + "\",\"slots\":" + geometry.slots() + ",\"tensors\":" + geometry.tensors()
                + ",\"data_byte_size\":" + geometry.dataByteSize() + "}";
    }

    /** Posts to the server over the lane's connection; returns the body of a response of that status. */
    String post(String status, String path, String body) throws IOException {
        connection.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "Content-Length: "
                + body.getBytes(UTF_8).length + "\r\n\r\n" + body);
        return new String(connection.readBody("HTTP/1.1 " + status), UTF_8);
    }

    /** Reads the lane's connection to its end. */
    void awaitConnectionEnd() {
        connection.readUntil("no response ends so");
    }

    /** The path below this lane. */
    String path(String rest) {
        return "/v2/lanes/" + name + rest;
    }

    /** Prepares a request. */
    public int prepare(String model, String json) throws IOException {
        return Integer.parseInt(
                post("200", path("/models/" + model + "/prepare"), json).replaceAll(".*\"prepared\":([0-9]+).*", "$1"));
    }

    /** Prepares a request to {@code simple}. */
    int prepareSimple() throws IOException {
        return prepare("simple", SIMPLE);
    }

    /** Writes a request to {@code simple} into a slot, whose tensors lie from {@code base} on. */
    void fillSimple(int slot, int prepared, long base) {
        set(base, SimpleModel.LEFT);
        set(base + 64, SimpleModel.RIGHT);
        request(slot, prepared);
        tensor(slot, 0, base, 64, 1, 16);
        tensor(slot, 1, base + 64, 64, 1, 16);
        tensor(slot, 2, base + 128, 64);
        tensor(slot, 3, base + 192, 64);
    }

    /** Waits for the answer to such a request, and checks it. */
    void assertSimple(int slot, long base) {
        assertThat(await(slot)).isEqualTo(SlotState.DONE);
        assertThat(code(slot)).as(text(slot)).isZero();
        assertThat(ints(base + 128, 16)).isEqualTo(SimpleModel.SUM);
        assertThat(ints(base + 192, 16)).isEqualTo(SimpleModel.DIFFERENCE);
        assertThat(written(slot, 2)).isEqualTo(64);
    }

    /** The lane's room for tensors. */
    public MemorySegment data() {
        return object.segment().asSlice(geometry.dataOffset());
    }

    /** The file of the lane's memory, for other processes of this user. */
    public Path file() {
        return Path.of(object.key());
    }

    /** Where {@link #data} begins in that file. */
    public long dataOffset() {
        return geometry.dataOffset();
    }

    /** The whole lane. */
    MemorySegment all() {
        return object.segment();
    }

    /** Writes integers into the data. */
    void set(long offset, int... values) {
        MemorySegment.copy(values, 0, data(), ValueLayout.JAVA_INT, offset, values.length);
    }

    /** Reads integers from the data. */
    int[] ints(long offset, int count) {
        return data().asSlice(offset, (long) Integer.BYTES * count).toArray(ValueLayout.JAVA_INT);
    }

    /** Writes where a tensor of a slot lies. */
    public void tensor(int slot, int index, long offset, long byteSize, long... shape) {
        long at = tensorOffset(slot, index);
        memory.setInt(at + SlotLayout.REGION, 0);
        memory.setInt(at + SlotLayout.RANK, shape.length);
        memory.setLong(at + SlotLayout.OFFSET, offset);
        memory.setLong(at + SlotLayout.BYTE_SIZE, byteSize);
        for (int i = 0; i < shape.length; i++) {
            memory.setLong(at + SlotLayout.DIMS + (long) Long.BYTES * i, shape[i]);
        }
    }

    /** Writes the numbers of a request that is in no sequence and has no texts. */
    public void request(int slot, int prepared) {
        long at = memory.slotOffset(slot);
        memory.setInt(at + SlotLayout.PREPARED, prepared);
        memory.setInt(at + SlotLayout.FLAGS, 0);
        memory.setLong(at + SlotLayout.SEQUENCE, 0);
        memory.setLong(at + SlotLayout.DEADLINE, 0);
        memory.setInt(at + SlotLayout.ID_BYTES, 0);
        memory.setInt(at + SlotLayout.SEQUENCE_BYTES, 0);
    }

    /** Limits the time of the request that {@link #request} has written. */
    void deadline(int slot, long nanos) {
        memory.setLong(memory.slotOffset(slot) + SlotLayout.DEADLINE, nanos);
    }

    /** Whether a request of the slot is not answered. */
    boolean isFilled(int slot) {
        return memory.state(slot) == SlotState.FILLED;
    }

    /** Fills the slot. */
    public void infer(int slot) {
        turn++;
        memory.state(slot, SlotState.FILLED);
        memory.submit(RingEntry.of(slot, RingEntry.INFER, turn));
    }

    /** Asks for the next answer of the last request. */
    void proceed(int slot) {
        memory.state(slot, SlotState.FILLED);
        memory.submit(RingEntry.of(slot, RingEntry.CONTINUE, turn));
    }

    /** Gives the last request up. */
    void cancel(int slot) {
        memory.submit(RingEntry.of(slot, RingEntry.CANCEL, turn));
    }

    /** Waits for an answer and returns the slot's state. */
    public int await(int slot) {
        Await.until("an answer in the lane", () -> memory.state(slot) != SlotState.FILLED);
        return memory.state(slot);
    }

    /** The code of the answer; 0 for none. */
    public int code(int slot) {
        return memory.getInt(memory.slotOffset(slot) + SlotLayout.CODE);
    }

    /** The text of the answer. */
    public String text(int slot) {
        byte[] bytes = new byte[memory.getInt(memory.slotOffset(slot) + SlotLayout.ANSWER_BYTES)];
        memory.getBytes(memory.slotOffset(slot) + SlotLayout.ANSWER_TEXT, bytes, bytes.length);
        return new String(bytes, UTF_8);
    }

    long tensorOffset(int slot, int index) {
        return memory.slotOffset(slot) + SlotLayout.TENSORS + index * SlotLayout.TENSOR_BYTES;
    }

    long written(int slot, int index) {
        return memory.getLong(tensorOffset(slot, index) + SlotLayout.WRITTEN_BYTES);
    }

    @Override
    public void close() throws IOException {
        connection.close();
        object.close();
    }
}
