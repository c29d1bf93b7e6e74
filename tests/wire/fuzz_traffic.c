/* Random tables and rows for the compiled traffic, most of them wrong: built with a sanitizer, it ends at the first access
   outside of an array. */

#include <stdio.h>
#include <stdlib.h>

#include "../../simulator/native/traffic.c"

#define MOST 24

static uint64_t state = 1;

static int64_t drawn(int64_t low, int64_t high) {
    state += GOLDEN;
    return low + (int64_t)(mix(state) % (uint64_t)(high - low + 1));
}

/* A number that suits, or now and then any small one. */
static int64_t about(int64_t low, int64_t high) { return drawn(0, 40) ? drawn(low, high) : drawn(-3, 60); }

static void *numbers(int64_t count, int64_t width, int64_t low, int64_t high) {
    char *to = malloc((size_t)(count * width + 1)); /* exactly so many: the byte more is never read as a number */
    for (int64_t i = 0; i < count; i++) {
        int64_t number = about(low, high);
        if (width == 4)
            ((int32_t *)to)[i] = (int32_t)number;
        else
            ((int64_t *)to)[i] = number;
    }
    return to;
}

int main(int argc, char **argv) {
    int64_t accepted = 0, rounds = argc > 1 ? atol(argv[1]) : 1000;
    for (int64_t round = 0; round < rounds; round++) {
        struct cohort cohorts[2];
        int64_t count = drawn(0, 2), rows = drawn(0, MOST), size = 0;
        for (int64_t i = 0; i < count; i++) {
            int64_t slots = drawn(1, 6), hot = drawn(0, slots), visits = drawn(1, 5), more = drawn(0, 3);
            cohorts[i] = (struct cohort){about(0, 9), about(1, 3), slots, hot, visits, more, about(1, slots), about(1, 3),
                                         about(1, 30), slots * visits + hot * more, about(size, size), drawn(0, 1)};
            size += ORDERS * cohorts[i].cards;
        }
        size = drawn(0, 9) ? size : drawn(0, size);
        int32_t *tables[3] = {numbers(size, 4, 0, 5), numbers(size, 4, 0, 4), numbers(size, 4, 0, 30)};
        struct traffic traffic = {cohorts, count, tables[0], tables[1], tables[2], size, 1, 2, 3};
        int64_t *of = numbers(rows, 8, 0, count - (count > 0)), *slots = numbers(rows, 8, 0, 17);
        int64_t *nth = numbers(rows, 8, -1000000000, 1000000000), *a = numbers(rows, 8, 0, 0), *b = numbers(rows, 8, 0, 0);
        accepted += cdcsim_visits(&traffic, of, nth, rows, a, b);
        accepted += cdcsim_nth(&traffic, of, slots, nth, rows, a);
        accepted += cdcsim_phases(&traffic, of, slots, rows, a);
        accepted += cdcsim_places(&traffic, of, slots, nth, rows, a);
        free(of), free(slots), free(nth), free(a), free(b);
        for (int i = 0; i < 3; i++) free(tables[i]);
    }
    printf("%lld calls accepted\n", (long long)accepted);
    return accepted < rounds / 2;
}
