"""What a graphics card could gain: the histogram of a leaf by a CUDA kernel, with the integer sums of the tree engine.

Needs CuPy and an NVIDIA card. Documents of MSLR's shape: 136 features of 255 bins, of which a few are frequent. Each
document adds its fixed-point gradient to one bin per feature, in 64-bit integers, so the result has to equal that of a
processor exactly; it is compared with NumPy's. Tables are summed in shared memory and then added to the result.

Time is that of the kernel alone, the median of twenty launches, with codes and gradients already on the card.
"""

import argparse
import statistics

import cupy
import numpy as np

KERNEL = r"""
extern "C" __global__ void histogram(const uchar4* codes, const long long* gradients, const unsigned* rows, int count,
                                     int per_block, long long documents, unsigned long long* sums) {
    __shared__ unsigned long long table[4 * 256 * 2];
    for (int i = threadIdx.x; i < 4 * 256 * 2; i += blockDim.x) table[i] = 0;
    __syncthreads();
    const uchar4* column = codes + (long long)blockIdx.y * documents;
    int begin = blockIdx.x * per_block, end = min(count, begin + per_block);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
        unsigned row = rows[i];
        uchar4 code = column[row];
        unsigned long long slope = gradients[2 * (long long)row], weight = gradients[2 * (long long)row + 1];
        unsigned char lanes[4] = {code.x, code.y, code.z, code.w};
        for (int lane = 0; lane < 4; lane++) {
            atomicAdd(&table[2 * (lane * 256 + lanes[lane])], slope);
            atomicAdd(&table[2 * (lane * 256 + lanes[lane]) + 1], weight);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * 256 * 2; i += blockDim.x)
        if (table[i]) atomicAdd(&sums[(long long)blockIdx.y * 4 * 256 * 2 + i], table[i]);
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[240_000, 1_200_000])
    parser.add_argument("--features", type=int, default=136)
    arguments = parser.parse_args()
    kernel = cupy.RawKernel(KERNEL, "histogram")
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    print(f"{'documents':>10} {'of them in the leaf':>20} {'milliseconds':>13} {'ns per document':>16}")
    for documents in arguments.documents:
        random = np.random.default_rng(1)
        groups = arguments.features // 4
        # Half of the documents share the first bins, as in real features.
        skewed = random.random((groups, documents, 4)) ** 3
        codes = (skewed * 255).astype(np.uint8)
        gradients = random.integers(-2**40, 2**40, (documents, 2))
        on_card = cupy.asarray(codes), cupy.asarray(gradients)
        for fraction in (1, 4, 16, 64):
            rows = np.sort(random.choice(documents, documents // fraction, replace=False)).astype(np.uint32)
            rows_on_card, per_block = cupy.asarray(rows), max(256, len(rows) // 128)
            sums = cupy.zeros((groups, 4, 256, 2), np.int64)
            grid = (-(-len(rows) // per_block), groups)
            launch = lambda: kernel(grid, (256,), (*on_card, rows_on_card, np.int32(len(rows)), np.int32(per_block), np.int64(documents), sums))
            launch()
            for group, lane in ((0, 0), (groups - 1, 3)):
                for part in (0, 1):
                    expected = np.zeros(256, np.int64)
                    np.add.at(expected, codes[group, rows, lane], gradients[rows, part])
                    assert (cupy.asnumpy(sums[group, lane, :, part]) == expected).all()
            times = []
            for _ in range(20):
                start, end = cupy.cuda.Event(), cupy.cuda.Event()
                start.record()
                launch()
                end.record()
                end.synchronize()
                times.append(cupy.cuda.get_elapsed_time(start, end))
            took = statistics.median(times)
            print(f"{documents:>10,} {len(rows):>20,} {took:>13.3f} {took * 1e6 / len(rows):>16.2f}")


if __name__ == "__main__":
    main()
