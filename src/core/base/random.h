/*
 * random.h
 *	  Random numbers: splitmix64 (Steele, Lea and Flood, "Fast splittable
 *	  pseudorandom number generators", 2014), as a sequence and as a hash of a key
 *	  and a counter.
 */
#ifndef WMLC_RANDOM_H
#define WMLC_RANDOM_H

#include <stdint.h>

#define WMLC_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
wmlc_random_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The next of a sequence; any state will do to begin with. */
static inline uint64_t
wmlc_random_next(uint64_t *state)
{
	return wmlc_random_mix(*state += WMLC_RANDOM_STEP);
}

/* Number `counter` of the sequence that `key` begins, without the others. */
static inline uint64_t
wmlc_random_at(uint64_t key, uint64_t counter)
{
	return wmlc_random_mix(key + (counter + 1) * WMLC_RANDOM_STEP);
}

/* Uniform on (0, 1), never 0 or 1: the middle of one of 2^52 equal intervals. */
static inline double
wmlc_random_open(uint64_t bits)
{
	return ((double) (bits >> 12) + 0.5) * 0x1p-52;
}

/* Uniform on [0, 1) */
static inline double
wmlc_random_half_open(uint64_t bits)
{
	return (double) (bits >> 11) * 0x1p-53;
}

#endif							/* WMLC_RANDOM_H */
