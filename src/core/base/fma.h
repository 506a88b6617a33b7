/*
 * fma.h
 *	  Is fused multiply-add one instruction, or a slow call of the C library?
 *
 * gcc says so by a macro of its own; clang, which is macOS's compiler, only by
 * those of the processor's architecture.
 */
#ifndef WMLC_FMA_H
#define WMLC_FMA_H

#if defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA) || defined(__FMA__)
#define WMLC_FAST_FMA
#endif

#endif							/* WMLC_FMA_H */
