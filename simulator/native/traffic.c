/* Traffic: which slot the n-th visit of a cohort is and at which place of its program, and the way back. The
   arithmetic of `simulator.stream.engine`, one pass over all rows.

   Nothing here allocates. What a table names is compared with the tables' sizes before it is read; functions give 0 where
   it is not there. */

#include <stddef.h>
#include <stdint.h>

#include "mix.h"

#define ORDERS 4
#define GROUP 8192
#define AHEAD 32

struct cohort {
    int64_t base, groups, slots, hot, visits, more, shift, decks, steps, cards, start, bound;
};

struct traffic {
    const struct cohort *cohorts;
    int64_t count;
    const int32_t *seats, *ranks, *cards; /* of all decks, in each order */
    int64_t size;
    uint64_t deck_key, turn_key, phase_key;
};

static inline uint64_t mixed(uint64_t key, int64_t cohort, int64_t number) {
    return mix(((uint64_t)number * GOLDEN + key) ^ (uint64_t)cohort << 48);
}

static inline int64_t fraction(uint64_t draw, int64_t size) { return (int64_t)((draw >> 32) * (uint64_t)size >> 32); }

/* Division by a positive number; by numbers of 32 bits, which most are, it takes a third of the time. */
static inline uint64_t over(uint64_t a, uint64_t b) {
    return (a | b) >> 32 ? a / b : (uint32_t)a / (uint32_t)b;
}

static inline int64_t floored(int64_t a, int64_t b) {
    return a < 0 ? -1 - (int64_t)over(-1 - (uint64_t)a, (uint64_t)b) : (int64_t)over((uint64_t)a, (uint64_t)b);
}

/* Most circles move on by one seat, in each deck, and most cohorts have one group. */
static inline int64_t by(int64_t a, int64_t b) { return b == 1 ? a : floored(a, b); }

static inline int64_t zero(const struct cohort *c, int64_t slot) {
    return (by(c->hot, c->shift) - 1 - by(slot, c->shift)) * c->decks;
}

static inline int64_t ahead(const struct cohort *c, int64_t slot, int64_t number) {
    int64_t deck = number + zero(c, slot), stay = by(c->hot, c->shift) * c->decks;
    if (!stay || !c->more) return deck * c->visits;
    int64_t round = by(c->slots, c->shift) * c->decks, rounds = floored(deck, round), rest = deck - rounds * round;
    return deck * c->visits + (rounds * stay + (rest < stay ? rest : stay)) * c->more;
}

static inline int64_t turned(const struct cohort *c, int64_t number) {
    int64_t step = by(number, c->decks), steps = by(c->slots, c->shift);
    return (step - floored(step, steps) * steps) * c->shift;
}

static inline int64_t order(const struct traffic *t, int64_t cohort, int64_t group, int64_t number) {
    if (t->cohorts[cohort].groups > 1) return group & (ORDERS - 1);
    return (int64_t)(mixed(t->deck_key, cohort, number) & (ORDERS - 1));
}

static inline int64_t first_group(const struct traffic *t, int64_t cohort, int64_t card) {
    int64_t groups = t->cohorts[cohort].groups;
    return groups == 1 ? 0 : fraction(mixed(t->turn_key, cohort, card), groups);
}

static inline int64_t origin(const struct traffic *t, int64_t cohort, int64_t slot, int64_t group) {
    const struct cohort *c = t->cohorts + cohort;
    int64_t who = (c->bound ? 0 : (slot + 1) * GROUP) + group;
    int64_t offset = fraction(mixed(t->phase_key, cohort, who), c->steps);
    return offset - floored(ahead(c, slot, 0) + offset, c->steps) * c->steps;
}

static inline int64_t seat_of(const struct cohort *c, int64_t slot, int64_t number) {
    int64_t seat = slot - turned(c, number);
    return seat < 0 ? seat + c->slots : seat;
}

/* Where the cards of a seat begin, in the deck's order. */
static inline int64_t first_card(const struct cohort *c, int64_t at, int64_t seat) {
    return c->start + at * c->cards + seat * c->visits + (seat < c->hot ? seat : c->hot) * c->more;
}

static int sound(const struct traffic *t) {
    for (int64_t i = 0; i < t->count; i++) {
        const struct cohort *c = t->cohorts + i;
        if (c->groups < 1 || c->slots < 1 || c->hot < 0 || c->hot > c->slots || c->visits < 1 || c->more < 0) return 0;
        if (c->shift < 1 || c->shift > c->slots || c->decks < 1 || c->steps < 1 || c->cards < 1 || c->start < 0) return 0;
        if (c->start > t->size || c->cards > (t->size - c->start) / ORDERS) return 0;
        if (c->cards != c->slots * c->visits + c->hot * c->more) return 0;
    }
    return 1;
}

/* The cohort of that number, and a slot's number within its group; NULL for what the tables do not have. */
static inline const struct cohort *slot_of(const struct traffic *t, int64_t cohort, int64_t number, int64_t *slot,
                                           int64_t *group) {
    if (cohort < 0 || cohort >= t->count) return NULL;
    const struct cohort *c = t->cohorts + cohort;
    *slot = by(number - c->base, c->groups);
    *group = number - c->base - *slot * c->groups;
    return *slot < 0 || *slot >= c->slots ? NULL : c;
}

/* (slot, place) of the n-th visit of each row's cohort. */
int64_t cdcsim_visits(const struct traffic *t, const int64_t *cohorts, const int64_t *nth, int64_t rows, int64_t *slots,
                      int64_t *places) {
    if (!sound(t)) return 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t cohort = cohorts[row];
        if (cohort < 0 || cohort >= t->count) return 0;
        const struct cohort *c = t->cohorts + cohort;
        int64_t dealing = by(nth[row], c->groups);
        int64_t number = floored(dealing, c->cards), card = dealing - number * c->cards;
        int64_t group = nth[row] - dealing * c->groups + first_group(t, cohort, card);
        if (group >= c->groups) group -= c->groups;
        int64_t at = c->start + order(t, cohort, group, number) * c->cards + card;
        int64_t slot = t->seats[at] + turned(c, number);
        if (slot >= c->slots) slot -= c->slots;
        slots[row] = c->base + slot * c->groups + group;
        places[row] = ahead(c, slot, number) + t->ranks[at] + origin(t, cohort, slot, group);
    }
    return 1;
}

/* A dealt card: of which deck, and where the decks have it. */
struct dealt {
    const struct cohort *circle;
    int64_t number, group, at;
};

/* The card by which a slot comes to a place, not looked up; its circle is NULL for what the tables do not have. */
static inline struct dealt dealt_at(const struct traffic *t, int64_t cohort, int64_t number, int64_t place) {
    int64_t slot, group;
    const struct cohort *c = slot_of(t, cohort, number, &slot, &group);
    if (!c) return (struct dealt){NULL, 0, 0, 0};
    int64_t before = place - origin(t, cohort, slot, group);
    int64_t round = by(c->slots, c->shift) * c->decks, stay = by(c->hot, c->shift) * c->decks;
    int64_t whole = round * c->visits + stay * c->more, rounds = floored(before, whole), rest = before - rounds * whole;
    int64_t cold = rest - stay * (c->visits + c->more), each = cold < 0 ? c->visits + c->more : c->visits;
    if (cold >= 0) rest = cold;
    int64_t decks = floored(rest, each), rank = rest - decks * each;
    int64_t deck = rounds * round + decks + (cold < 0 ? 0 : stay) - zero(c, slot);
    int64_t at = first_card(c, order(t, cohort, group, deck), seat_of(c, slot, deck)) + rank;
    return (struct dealt){at < 0 || at >= t->size ? NULL : c, deck, group, at};
}

/* Which visit of its cohort a slot's visit at a place is. The cards are anywhere in megabytes of memory: those of some
   rows are asked for before the first of them is needed. */
int64_t cdcsim_nth(const struct traffic *t, const int64_t *cohorts, const int64_t *slots, const int64_t *places,
                   int64_t rows, int64_t *nth) {
    if (!sound(t)) return 0;
    struct dealt some[AHEAD];
    for (int64_t first = 0; first < rows; first += AHEAD) {
        int64_t count = rows - first < AHEAD ? rows - first : AHEAD;
        for (int64_t i = 0; i < count; i++) {
            some[i] = dealt_at(t, cohorts[first + i], slots[first + i], places[first + i]);
            if (!some[i].circle) return 0;
            __builtin_prefetch(t->cards + some[i].at);
        }
        for (int64_t i = 0; i < count; i++) {
            const struct cohort *c = some[i].circle;
            int64_t card = t->cards[some[i].at];
            int64_t position = some[i].group - first_group(t, cohorts[first + i], card);
            if (position < 0) position += c->groups;
            nth[first + i] = (some[i].number * c->cards + card) * c->groups + position;
        }
    }
    return 1;
}

/* The place of each slot's first visit of the stream. */
int64_t cdcsim_phases(const struct traffic *t, const int64_t *cohorts, const int64_t *slots, int64_t rows,
                      int64_t *phases) {
    if (!sound(t)) return 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t cohort = cohorts[row], slot, group;
        const struct cohort *c = slot_of(t, cohort, slots[row], &slot, &group);
        if (!c) return 0;
        phases[row] = ahead(c, slot, 0) + origin(t, cohort, slot, group);
    }
    return 1;
}

/* The place of each slot's first visit at the n-th visit of its cohort or after it. */
int64_t cdcsim_places(const struct traffic *t, const int64_t *cohorts, const int64_t *slots, const int64_t *nth,
                      int64_t rows, int64_t *places) {
    if (!sound(t)) return 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t cohort = cohorts[row], slot, group;
        const struct cohort *c = slot_of(t, cohort, slots[row], &slot, &group);
        if (!c) return 0;
        int64_t dealing = by(nth[row], c->groups);
        int64_t number = floored(dealing, c->cards), card = dealing - number * c->cards;
        int64_t turn = group - first_group(t, cohort, card);
        if (turn < 0) turn += c->groups;
        card += turn < nth[row] - dealing * c->groups;
        int64_t seat = seat_of(c, slot, number), first = first_card(c, order(t, cohort, group, number), seat);
        int64_t low = 0, high = c->visits + (seat < c->hot ? c->more : 0);
        if (first < 0 || first > t->size - high) return 0;
        while (low < high) {
            int64_t middle = (low + high) >> 1;
            if (t->cards[first + middle] < card)
                low = middle + 1;
            else
                high = middle;
        }
        places[row] = ahead(c, slot, number) + low + origin(t, cohort, slot, group);
    }
    return 1;
}
