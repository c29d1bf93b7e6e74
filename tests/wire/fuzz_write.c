/* Programs of random pieces, many of them broken, over buffers of exactly their sizes: the address sanitizer and the
   undefined-behaviour sanitizer watch `write.c`. What the library takes is only checked for rising offsets. */

#include <stdio.h>
#include <stdlib.h>

#include "../../simulator/native/write.c"

static uint64_t state = 1;

static int64_t below(int64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)limit);
}

static void *exactly(size_t size) { /* so that each access behind it is seen */
    uint8_t *memory = malloc(size ? size : 1);
    for (size_t at = 0; at < size; at++) memory[at] = (uint8_t)below(256);
    return memory;
}

static void *kept[4096];
static int kept_count;

static void *keep(void *memory) { return kept[kept_count++] = memory; }

static int32_t wrong(int32_t number) { return below(200) ? number : (int32_t)(below(4) - 2) * 1000000; }

static void texts(struct piece *piece, int64_t count) {
    int64_t size = 0;
    int32_t *offsets = keep(exactly((size_t)(count + 1) * 4));
    for (int64_t at = 0; at <= count; at++) {
        offsets[at] = wrong((int32_t)size);
        if (at < count) size += below(4) ? below(12) : below(200);
    }
    piece->data = keep(exactly((size_t)size));
    piece->data_size = size;
    piece->offsets = offsets;
    piece->count = count;
}

static int32_t *indices(int64_t count, int64_t limit) {
    int32_t *numbers = keep(exactly((size_t)count * 4));
    for (int64_t at = 0; at < count; at++) numbers[at] = wrong((int32_t)(below(limit + 1) - 1));
    return numbers;
}

static int fill(struct piece *pieces, int room, int64_t rows) {
    int used = 0;
    while (used < room && below(8)) {
        struct piece *piece = pieces + used++;
        memset(piece, 0, sizeof *piece);
        piece->kind = below(100) ? below(KINDS) : 77;
        piece->lead_size = below(40);
        piece->lead = keep(exactly((size_t)piece->lead_size + BLOCK));
        int64_t count = below(20) ? rows : below(rows + 1);
        switch (piece->kind) {
        case TEXT:
        case SIZED:
        case BASE64:
            texts(piece, count);
            break;
        case MAPPED:
            texts(piece, count);
            piece->indices = keep(exactly(256 * CELL));
            piece->index_count = 256 - !below(50);
            piece->option = below(3) - !below(50);
            break;
        case DRAWN:
            piece->count = below(300);
            piece->offsets = keep(exactly((size_t)piece->count * CELL));
            piece->data_size = 8 * (below(20) ? count : below(count + 1));
            piece->data = keep(exactly((size_t)piece->data_size));
            piece->indices = indices(count, 40);
            for (int64_t at = 0; at < count; at++) ((int32_t *)piece->indices)[at] %= 1000;
            piece->index_count = count;
            break;
        case ENTRY:
        case SIZED_ENTRY:
            texts(piece, 1 + below(5));
            piece->indices = indices(count, piece->count);
            piece->index_count = count;
            break;
        case DIGITS:
        case UDIGITS:
        case LONG:
        case DECIMAL:
        case GROUPED:
        case TIME:
        case TRIMMED:
        case CLOCK:
        case TRIMMED_CLOCK:
        case MEMBERS:
        case SCALED:
        case SIGNED:
        case SIGNED_BASE64:
        case DAY: {
            int64_t *numbers = keep(exactly((size_t)count * 16)), shift = below(64);
            for (int64_t at = 0; at < 2 * count; at++) numbers[at] >>= piece->kind < TIME ? shift : 8 + below(40);
            if (piece->kind == SCALED)
                for (int64_t at = 1; at < 2 * count; at += 2) numbers[at] = below(below(30) ? 19 : 30);
            if (piece->kind == DAY)
                for (int64_t at = 0; at < count; at++) numbers[at] %= 1000000;
            piece->data = (uint8_t *)numbers;
            piece->count = count;
            piece->option = below(below(30) ? 7 : 30);
            if (piece->kind >= SIGNED) piece->option = below(30) ? 1 + below(2) : below(4);
            break;
        }
        case RUN: {
            int64_t inner = 1 + below(6), at = 0, *starts = keep(exactly((size_t)(count + 1) * 8));
            for (int64_t row = 0; row <= count; row++) {
                starts[row] = below(100) ? at : below(1000) - 500;
                if (at < inner) at += below(3);
            }
            piece->offsets = starts;
            piece->count = count;
            piece->index_count = inner;
            piece->data_size = below(3);
            piece->data = keep(exactly((size_t)piece->data_size));
            piece->span = fill(pieces + used, room - used, inner);
            used += (int)piece->span;
            if (!below(100)) piece->span += 50;
            break;
        }
        case LENGTH:
            piece->span = fill(pieces + used, room - used, rows);
            used += (int)piece->span;
            break;
        case CHOICE:
        case MEMBER: {
            int64_t inner = 1 + below(6);
            piece->indices = indices(count, inner);
            piece->index_count = count;
            piece->data_size = below(3);
            piece->data = keep(exactly((size_t)piece->data_size));
            piece->span = fill(pieces + used, room - used, inner);
            used += (int)piece->span;
            break;
        }
        }
    }
    return used;
}

int main(int argc, char **argv) {
    int64_t rounds = argc > 1 ? atoll(argv[1]) : 10000, whole = 0, broken = 0;
    for (int64_t round = 0; round < rounds; round++) {
        struct piece made[24], *pieces;
        kept_count = 0;
        int64_t rows = 1 + below(12), begins[2] = {0, fill(made, 24, rows)};
        pieces = keep(exactly((size_t)begins[1] * sizeof *pieces));
        memcpy(pieces, made, (size_t)begins[1] * sizeof *pieces);
        int32_t *offsets = keep(exactly((size_t)(rows + 1) * 4));
        offsets[0] = 0;
        int64_t capacity = BLOCK + below(4000), done;
        uint8_t *buffer = exactly((size_t)capacity);
        done = cdcsim_write(pieces, begins, 1, NULL, NULL, 0, rows, buffer, capacity, offsets);
        for (int again = 0; done >= 0 && done < rows && again < 12; again++) { /* more room, and on */
            buffer = realloc(buffer, (size_t)(capacity *= 2));
            done = cdcsim_write(pieces, begins, 1, NULL, NULL, done, rows, buffer, capacity, offsets);
        }
        for (int64_t at = 0; at < done; at++)
            if (offsets[at] > offsets[at + 1] || offsets[at + 1] > capacity - BLOCK) return 1;
        whole += done == rows;
        broken += done < 0;
        free(buffer);
        while (kept_count) free(kept[--kept_count]);
    }
    printf("%lld whole, %lld broken\n", (long long)whole, (long long)broken);
    return whole < rounds / 10 || broken < rounds / 100;
}
