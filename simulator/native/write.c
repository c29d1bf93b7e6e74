/* Writes messages: runs lists of pieces over Arrow's and NumPy's buffers, row by row, into one buffer with offsets.

   A message is a row of a program; a program is a list of pieces, each a constant lead and a value: a text, an entry of
   a dictionary, digits, an Avro long. Some pieces hold others: a run writes them for several rows, a choice only where
   its row has them. Nothing here allocates, and nothing is read or written outside the buffers that the caller names:
   offsets and indices are compared with their limits, room is asked for before each write. */

#include <stdint.h>
#include <string.h>

#include "mix.h"

#define ABI 13
/* Copies go in blocks of this many bytes: that much room is kept behind each write, and behind each constant. */
#define BLOCK 32

/* The cells of tables: a text of up to seven bytes, and how many it has. */
#define CELL 8

/* Columns are read side by side, more of them than the processor fetches by itself: this many rows ahead. */
#define AHEAD 32

/* The longest number or time: a decimal with a sign, a point and a zero before it. */
#define NUMBER 30

enum kind {
    CONSTANT, /* the lead alone */
    TEXT,     /* offsets, data */
    ENTRY,    /* indices into texts */
    DIGITS,   /* int64 as decimal digits */
    UDIGITS,  /* uint64 */
    LONG,     /* int64 as an Avro long */
    SIZED,    /* a text behind its length as an Avro long */
    SIZED_ENTRY,
    RUN,    /* the next `span` pieces for rows starts[row] to starts[row + 1], with a separator */
    CHOICE, /* the next `span` pieces for row slots[row]; another text where that is negative */
    MARK,   /* remembers where the text of an object's members begins */
    MEMBER, /* like CHOICE, with a comma before it where there is a member since the mark */
    DECIMAL, /* the low words of decimal128, by scale (option) */
    GROUPED, /* the same in groups of nine digits; zeros behind the last whole group are left out */
    TIME,    /* int64 microseconds as `2024-05-01 10:00:00` and the fraction's first digits (option) */
    TRIMMED, /* the same, the fraction without zeros at its end */
    DAY,     /* int64 days as `2024-05-01` */
    LENGTH,  /* the next `span` pieces behind their length as an Avro long */
    MAPPED,  /* a text as the texts of a table (indices) for its bytes, the first but for its first bytes (option) */
    CLOCK,   /* int64 microseconds of less than 1000 hours as `-12:34:56` and the fraction's first digits (option) */
    TRIMMED_CLOCK,
    SCALED,  /* pairs of int64: a number and its scale */
    DRAWN,   /* a number of texts (indices) of a table (offsets), drawn by a hash of uint64 */
    MEMBERS, /* int64 microseconds as Avro's longs in unions with null: year, month, day, hour, minute, second, and the
                fraction in units of (option) microseconds, null for 0 */
    BASE64,  /* bytes as Base64, with padding */
    SIGNED,  /* int64 in two's complement, big-endian, in the fewest bytes, behind their number as an Avro long; (option)
                is the number of words of a number, of which the first counts */
    SIGNED_BASE64, /* the same bytes as Base64 */
    KINDS
};

enum failure { FULL = -1, BROKEN = -2 };

struct piece {
    int64_t kind;
    const uint8_t *lead; /* padded with BLOCK bytes */
    int64_t lead_size;
    const uint8_t *data; /* texts, numbers, or the other text of a choice */
    int64_t data_size;   /* in bytes */
    const void *offsets; /* int32 of texts, int64 of a run's rows, or a table's cells */
    int64_t count;       /* of texts, numbers, runs or cells */
    const int32_t *indices; /* of entries, the slots of a choice, how many texts are drawn, or a table's cells */
    int64_t index_count;    /* of them, or the rows of all runs */
    int64_t span;   /* of what holds pieces */
    int64_t option; /* how a number is written */
};

/* The texts of days that were written last, by the days' last bits: a column's times are mostly of few days. */
#define DATES 16
struct dates {
    int64_t days[DATES];
    uint8_t texts[DATES][16];
};

struct out {
    uint8_t *end; /* room for BLOCK more bytes is behind it */
    uint8_t *mark;
    int failure;
    int64_t number; /* the last one that was written as digits, these, and how many they are with a sign */
    const uint8_t *digits;
    int64_t digits_size;
    struct dates dates;
};

static inline uint8_t *put(uint8_t *to, const uint8_t *from, int64_t size) {
    memcpy(to, from, BLOCK);
    for (int64_t at = BLOCK; at < size; at += BLOCK) memcpy(to + at, from + at, BLOCK);
    return to + size;
}

/* The number at an index that is within the column. */
static inline int64_t number_of(const struct piece *piece, int64_t index) {
    const int64_t *numbers = (const int64_t *)piece->data;
    __builtin_prefetch(numbers + index + AHEAD);
    return numbers[index];
}

/* The entry or slot of a row that is within the column. */
static inline int32_t index_of(const struct piece *piece, int64_t row) {
    __builtin_prefetch(piece->indices + row + AHEAD);
    return piece->indices[row];
}

static const char PAIRS[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static inline uint8_t *two_digits(uint8_t *to, uint32_t number) {
    memcpy(to, PAIRS + 2 * number, 2);
    return to + 2;
}

static inline uint8_t *four_digits(uint8_t *to, uint32_t number) {
    return two_digits(two_digits(to, number / 100), number % 100);
}

static inline uint8_t *eight_digits(uint8_t *to, uint32_t number) {
    return four_digits(four_digits(to, number / 10000), number % 10000);
}

/* Without zeros before them. Branches, since a column's numbers are mostly of one length. */
static inline uint8_t *to_two_digits(uint8_t *to, uint32_t number) {
    if (number >= 10) return two_digits(to, number);
    *to = (uint8_t)('0' + number);
    return to + 1;
}

static inline uint8_t *to_four_digits(uint8_t *to, uint32_t number) {
    if (number < 100) return to_two_digits(to, number);
    return two_digits(to_two_digits(to, number / 100), number % 100);
}

static inline uint8_t *to_eight_digits(uint8_t *to, uint32_t number) {
    if (number < 10000) return to_four_digits(to, number);
    return four_digits(to_four_digits(to, number / 10000), number % 10000);
}

static inline uint8_t *digits(uint8_t *to, uint64_t number) {
    const uint32_t unit = 100000000;
    if (number < unit) return to_eight_digits(to, (uint32_t)number);
    uint64_t high = number / unit;
    if (high < unit)
        to = to_eight_digits(to, (uint32_t)high);
    else
        to = eight_digits(to_four_digits(to, (uint32_t)(high / unit)), (uint32_t)(high % unit));
    return eight_digits(to, (uint32_t)(number % unit));
}

static inline uint8_t *avro_long(uint8_t *to, int64_t number) {
    uint64_t rest = ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
    while (rest > 0x7f) {
        *to++ = (uint8_t)(rest | 0x80);
        rest >>= 7;
    }
    *to++ = (uint8_t)rest;
    return to;
}

/* Digits of a fixed width, with zeros before them. */
static inline uint8_t *padded(uint8_t *to, uint64_t number, int64_t size) {
    int64_t at = size;
    for (; at >= 2; number /= 100) memcpy(to + (at -= 2), PAIRS + 2 * (number % 100), 2);
    if (at) to[0] = (uint8_t)('0' + number % 10);
    return to + size;
}

static const uint64_t POWERS[19] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u,
    1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u, 10000000000000000u, 100000000000000000u,
    1000000000000000000u};

static inline uint8_t *decimal(uint8_t *to, int64_t number, int64_t scale, int grouped) {
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    uint64_t units = size / POWERS[scale], fraction = size - units * POWERS[scale];
    if (number < 0) *to++ = '-';
    to = digits(to, units);
    if (!scale) return to;
    int64_t rest = scale % 9;
    *to++ = '.';
    if (!grouped || !rest || fraction % POWERS[rest]) return padded(to, fraction, scale);
    if (scale > rest) return padded(to, fraction / POWERS[rest], scale - rest);
    *to++ = '0';
    return to;
}

/* The proleptic Gregorian date of a day since 1970: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". */
static inline void calendar(int64_t day, uint32_t members[3]) {
    uint32_t since = (uint32_t)(day + 719468); /* 0000-03-01; days from the year 1 on */
    uint32_t era = since / 146097, of_era = since - era * 146097;
    uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    uint32_t of_month = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    members[0] = year + era * 400 + (month <= 2), members[1] = month, members[2] = of_month;
}

static inline uint8_t *date(uint8_t *to, int64_t day) {
    uint32_t members[3];
    calendar(day, members);
    to = padded(to, members[0], 4);
    *to++ = '-';
    to = padded(to, members[1], 2);
    *to++ = '-';
    return padded(to, members[2], 2);
}

#define FIRST_DAY (-719162)
#define LAST_DAY 2932896
#define DAY_US 86400000000
#define CLOCK_END 3600000000000

/* A time of day or an interval, not negative. */
static inline uint8_t *clock_text(uint8_t *to, uint64_t us, int64_t size, int trimmed) {
    uint32_t second = (uint32_t)(us / 1000000), fraction = (uint32_t)(us - (uint64_t)second * 1000000);
    to = padded(to, second / 3600, second < 360000 ? 2 : 3);
    *to++ = ':';
    to = padded(to, second / 60 % 60, 2);
    *to++ = ':';
    to = padded(to, second % 60, 2);
    if (trimmed) {
        if (!fraction) return to;
        *to++ = '.';
        to = padded(to, fraction, 6);
        while (to[-1] == '0') to--;
        return to;
    }
    if (!size) return to;
    *to++ = '.';
    return padded(to, fraction / POWERS[6 - size], size);
}

static inline uint8_t *known_date(uint8_t *to, int64_t day, struct dates *dates) {
    int64_t at = day & (DATES - 1);
    if (dates->days[at] != day) {
        dates->days[at] = day;
        date(dates->texts[at], day);
    }
    memcpy(to, dates->texts[at], 16);
    return to + 10;
}

static inline uint8_t *time_text(uint8_t *to, int64_t us, int64_t size, int trimmed, struct dates *dates) {
    int64_t day = us / DAY_US, rest = us - day * DAY_US;
    if (rest < 0) rest += DAY_US, day--;
    to = known_date(to, day, dates);
    *to++ = ' ';
    return clock_text(to, (uint64_t)rest, size, trimmed);
}

/* A number in the second branch of a union. */
static inline uint8_t *member(uint8_t *to, int64_t number) {
    *to++ = 2;
    return avro_long(to, number);
}

static inline uint8_t *time_members(uint8_t *to, int64_t us, int64_t units) {
    int64_t day = us / DAY_US, rest = us - day * DAY_US;
    if (rest < 0) rest += DAY_US, day--;
    uint32_t members[3], second = (uint32_t)((uint64_t)rest / 1000000);
    calendar(day, members);
    for (int at = 0; at < 3; at++) to = member(to, members[at]);
    to = member(to, second / 3600);
    to = member(to, second / 60 % 60);
    to = member(to, second % 60);
    if (units) return member(to, (rest - (int64_t)second * 1000000) * units);
    *to++ = 0;
    return to;
}

static inline uint8_t *text(uint8_t *to, const struct piece *piece, int64_t row, int sized, struct out *out) {
    const int32_t *offsets = piece->offsets;
    if (row < 0 || row >= piece->count) goto broken;
    int64_t begin = offsets[row], size = offsets[row + 1] - begin;
    if (begin < 0 || size < 0 || begin + size > piece->data_size) goto broken;
    if (out->end - to < size + 10) {
        out->failure = FULL;
        return NULL;
    }
    if (sized) to = avro_long(to, size);
    if (begin + size + BLOCK <= piece->data_size) return put(to, piece->data + begin, size);
    if (size) memcpy(to, piece->data + begin, (size_t)size);
    return to + size;
broken:
    out->failure = BROKEN;
    return NULL;
}

static inline uint8_t *cell(uint8_t *to, const uint8_t *cell) {
    memcpy(to, cell, CELL);
    return to + (cell[CELL - 1] & (CELL - 1));
}

static inline uint8_t *mapped(uint8_t *to, const struct piece *piece, int64_t row, struct out *out) {
    const int32_t *offsets = piece->offsets;
    const uint8_t *cells = (const uint8_t *)piece->indices;
    if (row < 0 || row >= piece->count || piece->index_count != 256) goto broken;
    int64_t at = offsets[row], end = offsets[row + 1];
    if (at < 0 || end < at || end > piece->data_size || piece->option < 0) goto broken;
    if (piece->option && at < end) {
        if (out->end - to < CELL) goto full;
        const uint8_t *first = cells + CELL * piece->data[at++];
        int64_t left = (first[CELL - 1] & (CELL - 1)) - piece->option;
        if (left < 0) goto broken;
        memcpy(to, first + piece->option, (size_t)left);
        to += left;
    }
    for (; at < end; at++) {
        if (out->end - to < CELL) goto full;
        to = cell(to, cells + CELL * piece->data[at]);
    }
    return to;
full:
    out->failure = FULL;
    return NULL;
broken:
    out->failure = BROKEN;
    return NULL;
}

static const char BASE64_DIGITS[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static inline uint8_t *base64(uint8_t *to, const struct piece *piece, int64_t row, struct out *out) {
    const int32_t *offsets = piece->offsets;
    if (row < 0 || row >= piece->count) goto broken;
    int64_t begin = offsets[row], size = offsets[row + 1] - begin;
    if (begin < 0 || size < 0 || begin + size > piece->data_size) goto broken;
    if (out->end - to < (size + 2) / 3 * 4) {
        out->failure = FULL;
        return NULL;
    }
    const uint8_t *from = piece->data + begin;
    for (; size > 0; size -= 3, from += 3, to += 4) {
        uint32_t bits = (uint32_t)from[0] << 16 | (size > 1 ? (uint32_t)from[1] << 8 : 0) | (size > 2 ? from[2] : 0);
        for (int digit = 0; digit < 4; digit++) to[digit] = (uint8_t)BASE64_DIGITS[bits >> (18 - 6 * digit) & 63];
        if (size < 3) to[3] = '=';
        if (size < 2) to[2] = '=';
    }
    return to;
broken:
    out->failure = BROKEN;
    return NULL;
}

/* The fewest bytes that hold a number and its sign. */
static inline int signed_size(int64_t number) {
    uint64_t bits = (uint64_t)(number ^ number >> 63);
    return (63 - __builtin_clzll(bits << 1 | 1)) / 8 + 1;
}

static inline uint8_t *signed_bytes(uint8_t *to, int64_t number) {
    int size = signed_size(number);
    uint64_t bytes = (uint64_t)number << (64 - 8 * size);
    *to++ = (uint8_t)(2 * size);
    for (int at = 0; at < 8; at++) to[at] = (uint8_t)(bytes >> (56 - 8 * at));
    return to + size;
}

static inline uint8_t *signed_base64(uint8_t *to, int64_t number) {
    int size = signed_size(number), digits = (4 * size + 2) / 3, end = (size + 2) / 3 * 4;
    uint64_t bytes = (uint64_t)number << (64 - 8 * size);
    for (int at = 0; at < end; at++, bytes <<= 6) to[at] = at < digits ? (uint8_t)BASE64_DIGITS[bytes >> 58] : '=';
    return to + end;
}

static inline uint8_t *drawn(uint8_t *to, const struct piece *piece, int64_t row, struct out *out) {
    if (row < 0 || row >= piece->index_count || row >= piece->data_size / 8 || piece->count < 1) goto broken;
    uint64_t bits = ((const uint64_t *)piece->data)[row], limit = (uint64_t)piece->count;
    if (limit > UINT32_MAX) goto broken;
    for (int32_t left = piece->indices[row]; left > 0; left--, bits += GOLDEN) {
        if (out->end - to < CELL) goto full;
        to = cell(to, (const uint8_t *)piece->offsets + CELL * ((mix(bits) >> 32) * limit >> 32));
    }
    return to;
full:
    out->failure = FULL;
    return NULL;
broken:
    out->failure = BROKEN;
    return NULL;
}

static uint8_t *write_pieces(uint8_t *to, const struct piece *pieces, int64_t count, int64_t row, struct out *out) {
    for (int64_t at = 0; at < count; at++) {
        const struct piece *piece = pieces + at;
        if (out->end - to < piece->lead_size + NUMBER) goto full;
        if (piece->lead_size) to = put(to, piece->lead, piece->lead_size);
        switch (piece->kind) {
        case CONSTANT:
            break;
        case TEXT:
        case SIZED:
            if (!(to = text(to, piece, row, piece->kind == SIZED, out))) return NULL;
            break;
        case ENTRY:
        case SIZED_ENTRY:
            if (row < 0 || row >= piece->index_count) goto broken;
            if (!(to = text(to, piece, index_of(piece, row), piece->kind == SIZED_ENTRY, out))) return NULL;
            break;
        case MAPPED:
            if (!(to = mapped(to, piece, row, out))) return NULL;
            break;
        case BASE64:
            if (!(to = base64(to, piece, row, out))) return NULL;
            break;
        case DRAWN:
            if (!(to = drawn(to, piece, row, out))) return NULL;
            break;
        case DIGITS: {
            if (row < 0 || row >= piece->count) goto broken;
            int64_t number = number_of(piece, row);
            if (out->digits && number == out->number) { /* times in three units have the same digits */
                uint8_t same[BLOCK];
                memcpy(same, out->digits, BLOCK);
                memcpy(to, same, BLOCK);
                to += out->digits_size;
                break;
            }
            uint8_t *begin = to;
            if (number < 0) *to++ = '-';
            to = digits(to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
            out->number = number, out->digits = begin, out->digits_size = to - begin;
            break;
        }
        case SIGNED:
        case SIGNED_BASE64: {
            if (row < 0 || row >= piece->count || piece->option < 1 || piece->option > 2) goto broken;
            int64_t number = number_of(piece, piece->option * row);
            to = piece->kind == SIGNED ? signed_bytes(to, number) : signed_base64(to, number);
            break;
        }
        case UDIGITS:
            if (row < 0 || row >= piece->count) goto broken;
            to = digits(to, (uint64_t)number_of(piece, row));
            break;
        case DECIMAL:
        case GROUPED:
            if (row < 0 || row >= piece->count || piece->option < 0 || piece->option > 18) goto broken;
            to = decimal(to, number_of(piece, 2 * row), piece->option, piece->kind == GROUPED);
            break;
        case TIME:
        case TRIMMED: {
            if (row < 0 || row >= piece->count || piece->option < 0 || piece->option > 6) goto broken;
            int64_t us = number_of(piece, row);
            if (us < FIRST_DAY * DAY_US || us >= (LAST_DAY + 1) * DAY_US) goto broken;
            to = time_text(to, us, piece->option, piece->kind == TRIMMED, &out->dates);
            break;
        }
        case CLOCK:
        case TRIMMED_CLOCK: {
            if (row < 0 || row >= piece->count || piece->option < 0 || piece->option > 6) goto broken;
            int64_t us = number_of(piece, row);
            if (us <= -CLOCK_END || us >= CLOCK_END) goto broken;
            if (us < 0) *to++ = '-';
            to = clock_text(to, (uint64_t)(us < 0 ? -us : us), piece->option, piece->kind == TRIMMED_CLOCK);
            break;
        }
        case SCALED: {
            if (row < 0 || row >= piece->count) goto broken;
            const int64_t *pair = (const int64_t *)piece->data + 2 * row;
            if (pair[1] < 0 || pair[1] > 18) goto broken;
            to = decimal(to, pair[0], pair[1], 0);
            break;
        }
        case MEMBERS: {
            if (row < 0 || row >= piece->count || piece->option < 0 || piece->option > 1000) goto broken;
            int64_t us = number_of(piece, row);
            if (us < FIRST_DAY * DAY_US || us >= (LAST_DAY + 1) * DAY_US) goto broken;
            to = time_members(to, us, piece->option);
            break;
        }
        case DAY: {
            if (row < 0 || row >= piece->count) goto broken;
            int64_t day = number_of(piece, row);
            if (day < FIRST_DAY || day > LAST_DAY) goto broken;
            to = known_date(to, day, &out->dates);
            break;
        }
        case LONG:
            if (row < 0 || row >= piece->count) goto broken;
            to = avro_long(to, number_of(piece, row));
            break;
        case RUN: {
            const int64_t *starts = piece->offsets;
            if (row < 0 || row >= piece->count || piece->span > count - at - 1) goto broken;
            if (starts[row] < 0 || starts[row] > starts[row + 1] || starts[row + 1] > piece->index_count) goto broken;
            for (int64_t inner = starts[row]; inner < starts[row + 1]; inner++) {
                if (inner > starts[row]) {
                    if (out->end - to < piece->data_size) goto full;
                    memcpy(to, piece->data, (size_t)piece->data_size);
                    to += piece->data_size;
                }
                if (!(to = write_pieces(to, piece + 1, piece->span, inner, out))) return NULL;
            }
            at += piece->span;
            break;
        }
        case CHOICE:
        case MEMBER: {
            if (row < 0 || row >= piece->index_count || piece->span > count - at - 1) goto broken;
            int64_t slot = index_of(piece, row);
            if (slot >= 0) {
                if (piece->kind == MEMBER && to != out->mark) *to++ = ',';
                if (!(to = write_pieces(to, piece + 1, piece->span, slot, out))) return NULL;
            } else {
                if (out->end - to < piece->data_size) goto full;
                if (piece->data_size) memcpy(to, piece->data, (size_t)piece->data_size);
                to += piece->data_size;
            }
            at += piece->span;
            break;
        }
        case LENGTH: {
            if (piece->span > count - at - 1) goto broken;
            uint8_t *inner = to + 1; /* most are short */
            if (!(to = write_pieces(inner, piece + 1, piece->span, row, out))) return NULL;
            int64_t size = to - inner;
            uint8_t prefix[10], *end = avro_long(prefix, size);
            if (end - prefix > 1) {
                if (out->end - to < end - prefix) goto full;
                memmove(inner + (end - prefix) - 1, inner, (size_t)size);
                out->digits = NULL; /* they may be among what has moved */
                to += (end - prefix) - 1;
            }
            memcpy(inner - 1, prefix, (size_t)(end - prefix));
            at += piece->span;
            break;
        }
        case MARK:
            out->mark = to;
            break;
        default:
            goto broken;
        }
    }
    return to;
full:
    out->failure = FULL;
    return NULL;
broken:
    out->failure = BROKEN;
    return NULL;
}

int64_t cdcsim_abi(void) { return ABI; }

/* Writes messages `first` to `count` behind offsets[first], as long as there is room; gives the number of messages
   that are written, or BROKEN. Message i is row rows[i] of program programs[i], or row i of the only program. */
int64_t cdcsim_write(const struct piece *pieces, const int64_t *begins, int64_t program_count, const int32_t *programs,
                     const int32_t *rows, int64_t first, int64_t count, uint8_t *buffer, int64_t capacity,
                     int32_t *offsets) {
    struct out out = {.end = buffer + capacity - BLOCK};
    for (int at = 0; at < DATES; at++) out.dates.days[at] = INT64_MAX; /* no day */
    for (int64_t at = first; at < count; at++) {
        int64_t program = programs ? programs[at] : 0, row = rows ? rows[at] : at;
        if (program < 0 || program >= program_count) return BROKEN;
        int64_t begin = begins[program];
        uint8_t *to = buffer + offsets[at];
        out.mark = to;
        to = write_pieces(to, pieces + begin, begins[program + 1] - begin, row, &out);
        if (!to) return out.failure == FULL ? at : BROKEN;
        if (to - buffer > INT32_MAX) return at;
        offsets[at + 1] = (int32_t)(to - buffer);
    }
    return count;
}
