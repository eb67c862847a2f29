// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

/**
 * The limit of a GPU's memory that the server may take.
 *
 * @param gpu the GPU's number
 * @param byteSize the most bytes at a time
 */
public record DevicePoolLimit(int gpu, long byteSize) {}
