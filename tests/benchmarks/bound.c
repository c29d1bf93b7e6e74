/* What a hand-written loop takes for the same kind of work as `crud` as `canal-json`: from the number of a turn to the
   bytes of its message. Each turn finds its row by a permutation of eight rounds and its position in the row's life,
   draws ten columns by a hash (names from a pool, numbers, a decimal, times), writes all of them as text, up to three
   former values behind `old`, and what does not change; messages stand one behind the other, with their offsets.

   It has no scenarios, types, formats or options, and checks nothing: a bound, not a program. Prints, for each round,
   nanoseconds of processor time a message and the bytes of one. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GOLDEN 0x9E3779B97F4A7C15u
#define ROWS 100000u
#define TURNS 32768
#define POOL 2000

static uint64_t mix(uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

static char pools[3][POOL][24];
static uint8_t sizes[3][POOL];

static inline char *text(char *to, const char *from) {
    size_t size = strlen(from); /* of a constant: known when this is compiled */
    memcpy(to, from, size);
    return to + size;
}

static inline char *digits(char *to, uint64_t number) {
    char cells[20];
    int at = 20;
    do
        cells[--at] = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(to, cells + at, (size_t)(20 - at));
    return to + 20 - at;
}

static inline char *padded(char *to, unsigned number, int size) {
    for (int at = size; at--; number /= 10) to[at] = (char)('0' + number % 10);
    return to + size;
}

/* Howard Hinnant's civil_from_days. */
static inline char *timestamp(char *to, uint64_t ms, int fraction) {
    unsigned second = (unsigned)(ms / 1000 % 86400), since = (unsigned)(ms / 86400000) + 719468, era = since / 146097;
    unsigned of_era = since - era * 146097;
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    unsigned day = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    to = padded(to, year + era * 400 + (month <= 2), 4), *to++ = '-';
    to = padded(to, month, 2), *to++ = '-';
    to = padded(to, day, 2), *to++ = ' ';
    to = padded(to, second / 3600, 2), *to++ = ':';
    to = padded(to, second / 60 % 60, 2), *to++ = ':';
    to = padded(to, second % 60, 2);
    if (fraction) *to++ = '.', to = padded(to, (unsigned)(ms % 1000), 3);
    return to;
}

/* A permutation of the rows: eight rounds over 17 bits, again while it leaves them. */
static inline uint32_t row_of(uint32_t turn, uint64_t pass) {
    uint32_t at = turn % ROWS;
    do
        for (unsigned round = 0; round < 8; round++) {
            at = (at * 0x9E3B + (uint32_t)mix(pass * 8 + round)) & 0x1FFFF;
            at ^= at >> 9;
        }
    while (at >= ROWS);
    return at;
}

/* A column of ten in the state that it has after so many settings. */
static inline char *value(char *to, int column, uint64_t row, uint64_t settings, uint64_t ms) {
    uint64_t draw = mix(row * GOLDEN + (uint64_t)column * 0x51ED27 + settings * GOLDEN) >> 32;
    switch (column) {
    case 0:
        return digits(to, 400000 + row);
    case 1:
    case 2:
    case 3:
        draw = draw * POOL >> 32;
        memcpy(to, pools[column - 1][draw], 24);
        return to + sizes[column - 1][draw];
    case 4:
        return digits(to, 18 + (draw * 82 >> 32));
    case 5:
        draw = draw * 10000000 >> 32;
        to = digits(to, draw / 100), *to++ = '.';
        return padded(to, (unsigned)(draw % 100), 2);
    case 6:
        return text(to, draw % 3 ? draw % 3 == 1 ? "active" : "paused" : "closed");
    case 7:
        return digits(to, draw * 1001 >> 32);
    case 8:
        return timestamp(to, ms - 60000, 0);
    default:
        return timestamp(to, ms, 1);
    }
}

static const char *names[10] = {"id",      "name",   "email", "city",       "age",
                                "balance", "status", "score", "created_at", "updated_at"};

static char *message(char *to, uint64_t turn) {
    uint64_t pass = turn / ROWS, row = row_of((uint32_t)(turn % ROWS), pass), ms = 1714521600000 + turn / 40;
    uint64_t life = (row + pass) % 5, which = mix(turn * GOLDEN); /* insert, three updates, delete */
    to = text(to, "{\"data\":[{");
    for (int column = 0; column < 10; column++) {
        if (column) *to++ = ',';
        *to++ = '"', to = text(to, names[column]), to = text(to, "\":\"");
        to = value(to, column, row, pass, ms), *to++ = '"';
    }
    to = text(to, "}],\"database\":\"app\",\"es\":"), to = digits(to, ms / 1000 * 1000);
    to = text(to, ",\"gtid\":\"\",\"id\":"), to = digits(to, 1000000 + turn);
    to = text(to, ",\"isDdl\":false,\"mysqlType\":{\"id\":\"bigint\",\"name\":\"varchar(60)\",\"email\":\"varchar(100)\",\"city"
                  "\":\"varchar(60)\",\"age\":\"int\",\"balance\":\"decimal(10,2)\",\"status\":\"varchar(10)\",\"score\":\"int\""
                  ",\"created_at\":\"datetime\",\"updated_at\":\"datetime(3)\"},\"old\":");
    if (life % 4) {
        to = text(to, "[{");
        for (unsigned old = 0; old < 1 + which % 3; old++, which >>= 8) {
            int column = (int)(1 + (which >> 8) % 7);
            *to++ = '"', to = text(to, names[column]), to = text(to, "\":\"");
            to = value(to, column, row, pass - 1, ms), to = text(to, "\",");
        }
        to = text(to, "\"updated_at\":\""), to = value(to, 9, row, pass, ms - 4680), to = text(to, "\"}]");
    } else
        to = text(to, "null");
    to = text(to, ",\"pkNames\":[\"id\"],\"sql\":\"\",\"sqlType\":{\"id\":-5,\"name\":12,\"email\":12,\"city\":12,\"age\":4,"
                  "\"balance\":3,\"status\":12,\"score\":4,\"created_at\":93,\"updated_at\":93},\"table\":\"users\",\"ts\":");
    to = digits(to, ms + 350);
    return text(to, life == 0 ? ",\"type\":\"INSERT\"}\n" : life == 4 ? ",\"type\":\"DELETE\"}\n" : ",\"type\":\"UPDATE\"}\n");
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 5;
    for (int pool = 0; pool < 3; pool++)
        for (int at = 0; at < POOL; at++) {
            sizes[pool][at] = (uint8_t)(10 + mix((uint64_t)(pool * POOL + at)) % 14);
            memset(pools[pool][at], 'a' + at % 26, 24);
        }
    char *buffer = malloc((size_t)TURNS * 1024);
    int32_t *offsets = malloc(sizeof(int32_t) * (TURNS + 1));
    if (!buffer || !offsets) return 1;
    for (int round = -1; round < rounds; round++) { /* the first takes the memory */
        clock_t begin = clock();
        char *to = buffer;
        for (int turn = 0; turn < TURNS; turn++) {
            offsets[turn] = (int32_t)(to - buffer);
            to = message(to, (uint64_t)TURNS * (uint64_t)(round + 100) + (uint64_t)turn);
        }
        offsets[TURNS] = (int32_t)(to - buffer);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (round >= 0) printf("%.1f %.0f\n", seconds / TURNS * 1e9, (double)offsets[TURNS] / TURNS);
    }
    return 0;
}
