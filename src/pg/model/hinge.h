/*
 * hinge.h
 *	  What every function that relies on the linear hinge loss must check.
 */
#ifndef WML_HINGE_H
#define WML_HINGE_H

#include "postgres.h"

#include "core/gram/gram.h"

/* A radius of the ball that coefficients lie in: finite and positive. */
extern double wml_check_radius(double radius);

/*
 * Refuse a gram on whose rows the hinge loss is not linear for coefficients of
 * that length.  `role` names the gram in the message ("source", "target").
 */
extern void wml_check_unit_ball(const WmlcGram *gram, double radius, const char *role);

#endif							/* WML_HINGE_H */
