/*
 * kernel.h
 *	  The loss argument, shared by kernels and weights.
 */
#ifndef WML_KERNEL_H
#define WML_KERNEL_H

#include "postgres.h"

#include "core/weights/embedding.h"

extern WmlcLoss wml_loss_from_text(text *name);

#endif							/* WML_KERNEL_H */
