/* Columns of numbers in one pass over all rows: draws, the arithmetic of `simulator.values.draw` and
   `simulator.stream.generators`, and the decimals of floating-point numbers.

   Nothing here allocates. Arrays have an element for each row; indices into tables are compared with their sizes. */

#include <stdint.h>
#include <string.h>

#include "mix.h"

/* Among fewer numbers the others of two are drawn exactly evenly. */
#define FEW 65536
/* Most decimal places tried for a value below ten million; one that needs more is left to the exact way. */
#define PLACES 9

static inline int64_t below(uint64_t draw, uint64_t size) {
    return (int64_t)(size <= (uint64_t)1 << 32 ? (draw >> 32) * size >> 32 : draw % size);
}

/* How often a column was set before, by the tick and the cycle of each row; 0 where a table is too short. */
int64_t cdcsim_changes(const int64_t *ticks, const int64_t *cycles, const int64_t *programs, int64_t rows,
                       int64_t start, const int64_t *counts, int64_t count, const int64_t *per_cycle,
                       int64_t program_count, int64_t *changes) {
    for (int64_t row = 0; row < rows; row++) {
        int64_t at = ticks[row] - start, program = programs[row];
        if (at < 0 || at >= count || program < 0 || program >= program_count) return 0;
        changes[row] = counts[at] + (cycles[row] > 0 ? cycles[row] : 0) * per_cycle[program];
    }
    return 1;
}

void cdcsim_draws(const uint64_t *identities, const int64_t *changes, int64_t rows, uint64_t salt, uint64_t *draws) {
    for (int64_t row = 0; row < rows; row++)
        draws[row] = mix(identities[row] + salt + (uint64_t)changes[row] * GOLDEN);
}

/* Numbers below `size`; two settings in a row never give the same one. */
void cdcsim_index(const uint64_t *identities, const int64_t *changes, int64_t rows, uint64_t salt, uint64_t size,
                  int64_t *index) {
    for (int64_t row = 0; row < rows; row++) {
        uint64_t change = (uint64_t)changes[row], start = identities[row] + salt + change * GOLDEN, draw = mix(start);
        if (size == 2) {
            index[row] = below(mix(identities[row] + salt), 2) ^ (int64_t)(change & 1);
        } else if (size == 1 || !(change & 1)) {
            index[row] = below(draw, size);
        } else {
            int64_t a = below(mix(start - GOLDEN), size), b = below(mix(start + GOLDEN), size);
            int64_t low = a < b ? a : b, high = a < b ? b : a, differ = a != b, other;
            if (size < FEW) {
                other = below(draw, size - 1 - (uint64_t)differ);
            } else { /* as good as even */
                other = below(draw, size - 1);
                other -= differ & (other == (int64_t)(size - 2));
            }
            other += other >= low;
            index[row] = other + (differ & (other >= high));
        }
    }
}

/* Settings in turn, over neighbouring rows and over the settings of each; 0 where a place is negative. */
int64_t cdcsim_in_turn(const int64_t *places, const int64_t *changes, int64_t rows, int64_t size, int32_t *index) {
    for (int64_t row = 0; row < rows; row++) {
        int64_t place = places[row] + changes[row];
        if (place < 0) return 0;
        index[row] = (int32_t)(place <= UINT32_MAX ? (uint32_t)place % (uint32_t)size : place % size);
    }
    return 1;
}

/* 1 for the draws below `share`; with `between`, after and before a setting without a null only, for those below it. */
void cdcsim_nulls(const uint64_t *identities, const int64_t *changes, int64_t rows, uint64_t salt, uint64_t share,
                  uint64_t between, uint8_t *nulls) {
    for (int64_t row = 0; row < rows; row++) {
        uint64_t change = (uint64_t)changes[row], start = identities[row] + salt + change * GOLDEN, draw = mix(start);
        if (between && change & 1)
            nulls[row] = mix(start - GOLDEN) >= share && mix(start + GOLDEN) >= share && draw < between;
        else
            nulls[row] = draw < share;
    }
}

/* Doubles, or floats widened to them, as pairs of a number and its scale: the fewest decimals that bring the value back,
   as Java prints it. 0 in `easy` for values of which that is not certain. */
void cdcsim_decimals(const double *values, int64_t rows, int is_float, int64_t *pairs, uint8_t *easy) {
    const double exact = 6755399441055744.0; /* 1.5 * 2^52: added and taken away, it rounds as rint does */
    for (int64_t row = 0; row < rows; row++, pairs += 2) {
        double value = values[row], size = value < 0 ? -value : value, ten = 1;
        uint64_t bits;
        memcpy(&bits, values + row, 8);
        pairs[0] = 0, pairs[1] = 1, easy[row] = !bits;
        if (!(size >= 1e-3 && size < 1e7)) continue;
        uint64_t power = ((bits >> 52 & 0x7ff) - (is_float ? 23 : 52)) << 52;
        double gap, near = is_float ? 0.49 : 0;
        memcpy(&gap, &power, 8);
        for (int places = 0; places < PLACES && gap < 0.999 / ten; places++, ten *= 10) {
            double number = value * ten + exact - exact, away = number / ten - value;
            if ((away < 0 ? -away : away) > near * gap) continue;
            pairs[0] = (int64_t)number * (places ? 1 : 10), pairs[1] = places ? places : 1, easy[row] = 1;
            break;
        }
    }
}

static inline uint64_t feed(uint64_t number, uint64_t key, uint64_t half, uint64_t size) {
    uint64_t hashed = (number + key) * GOLDEN + half * 0x632BE59BD9B4E019u;
    hashed = (hashed ^ hashed >> 32) * 0xD6E8FEB86659FD93u;
    return (hashed >> 32) * size >> 32;
}

/* Each position as `generators.shuffle.Shuffle` of `size` things in a table of `a` times `b` moves it, or `back`; 0 where
   one is not among them. */
int64_t cdcsim_shuffle(const int64_t *positions, int64_t rows, uint64_t key, uint64_t size, uint64_t a, uint64_t b,
                       int64_t back, int64_t *shuffled) {
    if (!size || !b || a > UINT32_MAX || b > UINT32_MAX || a * b < size) return 0;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t position = (uint64_t)positions[row];
        if (position >= size) return 0;
        do {
            uint64_t left = position / b, right = position - left * b;
            for (uint64_t round = 0; round < 4; round++) {
                uint64_t half = back ? 3 - round : round, limit = half & 1 ? b : a;
                uint64_t fed = feed(half & 1 ? left : right, key, half, limit);
                uint64_t *moved = half & 1 ? &right : &left;
                *moved += back ? limit - fed : fed;
                if (*moved >= limit) *moved -= limit;
            }
            position = left * b + right;
        } while (position >= size);
        shuffled[row] = (int64_t)position;
    }
    return 1;
}
