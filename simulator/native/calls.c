/* Calls functions of another library for many objects, and copies what they point to, without Python in between. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Objects and spans lie apart in memory: those of so many later calls are asked for ahead. */
#define AHEAD 8

typedef void *(*function)(void *, const void *, size_t);

/* Call number i takes `first` and counts[i] of the arguments, which have `size` bytes each; the int32 in results, `step`
   bytes apart, becomes 0 where a call gave no error. Ends with the first error and gives it, or NULL. */
void *cdcsim_calls(function call, void *first, const uint8_t *arguments, int64_t size, const int64_t *counts,
                   int64_t count, uint8_t *results, int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        void *error = call(first, arguments, (size_t)counts[i]);
        if (error) return error;
        *(int32_t *)(results + i * step) = 0;
        arguments += size * counts[i];
    }
    return NULL;
}

/* Calls a function with each object and the address of its result. */
void cdcsim_results(int32_t (*call)(const void *, void **), const void *const *objects, int64_t count, void **results) {
    for (int64_t i = 0; i < count; i++) call(objects[i], &results[i]);
}

/* Calls a function with each object. */
void cdcsim_each(void (*call)(void *), void *const *objects, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(objects[i + AHEAD], 1);
        call(objects[i]);
    }
}

/* Copies spans of memory, one behind the other. */
void cdcsim_join(const uint8_t *const *starts, const int64_t *sizes, int64_t count, uint8_t *out) {
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(starts[i + AHEAD]);
        if (sizes[i]) memcpy(out, starts[i], (size_t)sizes[i]);
        out += sizes[i];
    }
}
