/* SplitMix64, whose finaliser makes all draws: `simulator.values.draw`. */

#include <stdint.h>

#define GOLDEN 0x9E3779B97F4A7C15u

static inline uint64_t mix(uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}
