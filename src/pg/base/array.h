/*
 * array.h
 *	  Between float8 arrays and C.
 */
#ifndef WML_ARRAY_H
#define WML_ARRAY_H

#include "postgres.h"

#include "utils/array.h"

/*
 * The elements of a one-dimensional float8[] without NULLs.  `what` names the
 * argument in the error otherwise.
 */
extern double *wml_array_vector(ArrayType *array, const char *what, int *count);

/* The elements of a two-dimensional float8[][] without NULLs, by rows. */
extern double *wml_array_matrix(ArrayType *array, const char *what, int *rows, int *columns);

/* An error unless all elements are finite. */
extern void wml_array_check_finite(const double *elements, int64 count, const char *what);

/* One weight for each source, finite and not negative; NULL is 0. */
extern double *wml_array_weights(ArrayType *array, int64 sources);

/* An error unless the weights sum to 1, but for rounding; their sum. */
extern double wml_check_weights_sum(const double *alpha, int64 count);

/* New arrays; the caller fills the elements. */
extern ArrayType *wml_array_new_vector(int count, double **elements);
extern ArrayType *wml_array_new_matrix(int rows, int columns, double **elements);

#endif							/* WML_ARRAY_H */
