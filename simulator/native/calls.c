/* Calls a function of another library with many lists of arguments, without Python in between. */

#include <stddef.h>
#include <stdint.h>

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
