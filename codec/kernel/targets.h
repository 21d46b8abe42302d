// Which targets the vector kernels are built for. To be included before any header of Highway.
#pragma once

// AVX-512 is off: sums and dice are defined over eight lanes, so its wider vectors would stay half empty. What SSSE3
// would serve, the scalar table does.
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL | HWY_SSSE3)

// The least target is a vector target too: Highway's own fallback for older CPUs has single lanes,
// and the scalar table takes its place. Nothing runs that the CPU has not been asked for.
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
