# SPDX-License-Identifier: Apache-2.0
"""What a worker process of Gatun is made of: the frames, the shared memory, and the objects that models see."""
