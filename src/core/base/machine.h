/*
 * machine.h
 *	  What this is compiled for.
 *
 * WMLC_VECTORS: loops are compiled for AVX2 and AVX-512, too, and chosen when
 * they run.  Not by GCC for Windows: under Wine, MinGW's GCC 12 made loops of
 * core/glm whose results were wrong, and nobody has found out why.
 */
#ifndef WMLC_MACHINE_H
#define WMLC_MACHINE_H

#if defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__))
#define WMLC_VECTORS
#endif

#endif							/* WMLC_MACHINE_H */
