/*
 * triangle.h
 *	  Where the entries of a packed symmetric matrix lie.
 */
#ifndef WMLC_TRIANGLE_H
#define WMLC_TRIANGLE_H

#include <stddef.h>

/* Entries of the upper triangle of a p x p matrix. */
static inline size_t
wmlc_triangle_size(int p)
{
	return (size_t) p * (p + 1) / 2;
}

/* Where entry (i, j), i <= j, of the triangle is: row by row. */
static inline size_t
wmlc_triangle_index(int p, int i, int j)
{
	return (size_t) i * p - (size_t) i * (i - 1) / 2 + (j - i);
}

#endif							/* WMLC_TRIANGLE_H */
